'use strict';
// Reads /status.json once a second and draws it. Nothing is ever put on the page as markup.

const $ = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
const PLOT = { left: 52, right: 990, top: 8, bottom: 214, seconds: 600 };
const QUANTILES = ['p99', 'p95', 'p50'];

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const milliseconds = (ms) => (ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2));

function span(seconds) {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
}

function mebibytes(bytes) {
  const mib = bytes / 1048576;
  return mib >= 10240 ? `${(mib / 1024).toFixed(0)} GiB` : `${mib.toFixed(0)} MiB`;
}

function figures(status) {
  const { pool } = status;
  const last = status.history.at(-1);
  const rows = [
    ['sessions', status.sessions],
    ['runs under way', status.running, pool && `of ${pool.permits}`],
    ...(pool ? [
      ['waiting', pool.queued],
      ['warm sandboxes', pool.warm],
      ['retained', pool.retained],
      ['leases', pool.leased],
      ['memory reserved', mebibytes(pool.reservedMemory), `of ${mebibytes(pool.reservableMemory)}`],
      ['killed at a bound', pool.kills],
    ] : []),
    ['p50 now', last && last.secondsAgo <= status.stepSeconds ? milliseconds(last.p50) : '–', 'ms'],
  ];
  $('figures').replaceChildren(...rows.map(([name, value, of]) => {
    const list = document.createElement('dl');
    const data = element('dd', `${value} `);
    if (of) data.append(element('small', of));
    list.append(element('dt', name), data);
    const card = document.createElement('div');
    card.append(list);
    return card;
  }));
}

/** Durations on a logarithmic scale, whole powers of ten marked; the newest step is at the right. */
function plot(status) {
  const points = status.history;
  $('empty').hidden = points.length > 0;
  $('plot').style.display = points.length ? '' : 'none';
  if (!points.length) return;
  const low = Math.floor(Math.log10(Math.min(...points.map((point) => point.p50))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...points.map((point) => point.p99)))));
  const most = Math.max(...points.map((point) => point.runs));
  const x = (point) => PLOT.right - (point.secondsAgo / PLOT.seconds) * (PLOT.right - PLOT.left);
  const y = (ms) => PLOT.bottom - ((Math.log10(ms) - low) / (high - low)) * (PLOT.bottom - PLOT.top);
  const shapes = [];
  const width = ((PLOT.right - PLOT.left) * status.stepSeconds) / PLOT.seconds;
  for (const point of points) {
    const height = (point.runs / most) * 40;
    shapes.push(shape('rect', { x: x(point) - width / 2, y: PLOT.bottom - height, width: width * 0.8, height }));
  }
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power);
    shapes.push(shape('line', { class: 'grid', x1: PLOT.left, x2: PLOT.right, y1: at, y2: at }));
    shapes.push(shape('text', { x: 4, y: at + 4 }, `${10 ** power} ms`));
  }
  for (let minutes = 0; minutes <= 10; minutes += 2) {
    const at = x({ secondsAgo: minutes * 60 });
    shapes.push(shape('text', { x: Math.min(at - 10, 970), y: 232 }, minutes ? `-${minutes} min` : 'now'));
  }
  for (const quantile of QUANTILES) {
    const line = points.map((point) => `${x(point)},${y(point[quantile])}`);
    // A step alone is a dash, or it would not be seen.
    if (line.length === 1) line.push(`${x(points[0]) - width},${y(points[0][quantile])}`);
    shapes.push(shape('polyline', { class: quantile, points: line.join(' ') }));
  }
  $('plot').replaceChildren(...shapes);
}

function recent(status) {
  $('recent').replaceChildren(...status.recent.map((end) => {
    const row = document.createElement('tr');
    row.append(
      element('td', end.how, end.how === 'completed' ? '' : 'failed'),
      element('td', span(end.secondsAgo)),
      element('td', milliseconds(end.wallMs)),
      element('td', milliseconds(end.cpuMs)),
      element('td', end.hostCalls),
    );
    return row;
  }));
}

function state(text, bad) {
  $('state').textContent = text;
  $('state').className = bad ? 'bad' : '';
}

async function refresh() {
  try {
    const answer = await fetch('/status.json', { cache: 'no-store' });
    if (!answer.ok) throw new Error(`the daemon answers ${answer.status}`);
    const status = await answer.json();
    state(status.unready ?? 'ready', status.unready !== null);
    $('node').textContent = `${status.node} · version ${status.version} · up ${span(status.upSeconds)}`;
    $('step').textContent = status.stepSeconds;
    figures(status);
    plot(status);
    recent(status);
  } catch (error) {
    state(`not answering: ${error.message}`, true);
  }
  setTimeout(refresh, 1000);
}

refresh();
