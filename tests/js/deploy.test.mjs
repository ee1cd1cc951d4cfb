// The files in deploy/ against what the daemon really offers: its flags, its port, its probes, its times.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { BINARY, startDaemon } from './harness.mjs';

const deploy = (name) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

let folder;
let tokens;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'codemode-'));
  tokens = join(folder, 'tokens');
  writeFileSync(tokens, `alice:${createHash('sha256').update('x').digest('hex')}\n`);
});

after(() => rmSync(folder, { recursive: true }));

/** The effective settings of these arguments, as the daemon reads them; it refuses what it does not know. */
function effective(args, env = {}) {
  assert.equal(args[0], 'serve');
  const printed = execFileSync(BINARY, ['config', ...args.slice(1)], { encoding: 'utf8', env: { ...process.env, ...env } });
  const lines = printed.split('\n').map((line) => /^([a-z-]+) = (.*?)\s*(?:# .*)?$/.exec(line)).filter(Boolean);
  return Object.fromEntries(lines.map(([, key, value]) => [key, value.replaceAll('"', '')]));
}

/** Seconds of `30s` or `500ms`. */
function seconds(time) {
  const [, number, unit] = /^(\d+)(ms|s|min)$/.exec(time) ?? assert.fail(`${time} is a time`);
  return Number(number) * { ms: 0.001, s: 1, min: 60 }[unit];
}

/** The sections of a systemd unit; a key that is repeated has its last value. */
function unit(text) {
  const sections = {};
  let section;
  for (const line of text.split('\n')) {
    const heading = /^\[(\w+)\]$/.exec(line)?.[1];
    if (heading) section = sections[heading] = {};
    else if (/^\w+=/.test(line)) section[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
    else assert.match(line, /^(#.*)?$/, `${line} is neither a setting nor a comment`);
  }
  return sections;
}

test('the unit starts the daemon with its own configuration and gives it time to drain', () => {
  const { Service: service } = unit(deploy('codemoded.service'));
  const [program, ...args] = service.ExecStart.split(' ');
  assert.equal(program, '/usr/local/bin/codemoded');
  assert.deepEqual(args, ['serve', '--config', '/etc/codemoded/codemoded.toml']);
  const file = join(folder, 'codemoded.toml');
  writeFileSync(file, deploy('codemoded.toml'));
  const settings = effective(['serve', '--config', file]);
  assert.equal(settings.listen, '0.0.0.0:8787');
  assert.equal(settings.tokens, '/etc/codemoded/tokens');
  assert.ok(Number(service.TimeoutStopSec) > seconds(settings['drain-timeout']) + 5, 'a drain ends before its kill');
  assert.equal(service.KillMode, 'mixed', 'the daemon alone is told to stop');
  assert.equal(service.Type, 'notify');
  assert.equal(service.OOMPolicy, 'continue', 'a sandbox without memory does not stop the daemon');
});

test('the configuration names only settings, those in comments included', () => {
  const file = join(folder, 'all.toml');
  writeFileSync(file, deploy('codemoded.toml').replace(/^# ([a-z-]+ = )/gm, '$1'));
  assert.equal(effective(['serve', '--config', file])['tls-cert'], '/etc/codemoded/tls.crt');
});

test('the image runs the daemon as nobody in particular', () => {
  const lines = deploy('Dockerfile').split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const of = (name) => lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  assert.deepEqual(of('ENTRYPOINT'), ['["/usr/local/bin/codemoded"]']);
  const settings = effective(JSON.parse(of('CMD')[0]));
  assert.deepEqual(of('EXPOSE'), [settings.listen.split(':').at(-1)]);
  assert.match(of('USER')[0], /^[1-9]\d*:[1-9]\d*$/);
  assert.deepEqual(of('STOPSIGNAL'), ['SIGTERM']);
  assert.ok(of('COPY').some((line) => line.endsWith('/release/codemoded /usr/local/bin/codemoded')));
});

test('what Kubernetes is told is what the daemon does', async () => {
  const documents = parseAllDocuments(deploy('kubernetes.yaml')).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
  const { Deployment, Service, PodDisruptionBudget } = Object.fromEntries(documents.map((one) => [one.kind, one]));
  const pod = Deployment.spec.template.spec;
  const [container] = pod.containers;
  const labels = Deployment.spec.template.metadata.labels;
  for (const selector of [Deployment.spec.selector.matchLabels, Service.spec.selector, PodDisruptionBudget.spec.selector.matchLabels]) {
    assert.deepEqual(selector, labels);
  }

  const env = Object.fromEntries(container.env.map(({ name }) => [name, 'codemoded-7d9f-x2x']));
  const settings = effective(container.args, env);
  assert.equal(settings.node, 'codemoded-7d9f-x2x');
  const [port] = container.ports;
  assert.equal(settings.listen, `0.0.0.0:${port.containerPort}`);
  assert.equal(Service.spec.ports[0].targetPort, port.name);
  const annotations = Deployment.spec.template.metadata.annotations;
  assert.equal(annotations['prometheus.io/port'], String(port.containerPort));
  assert.ok(pod.terminationGracePeriodSeconds > seconds(settings['drain-timeout']) + 5, 'a drain ends before its kill');
  const [mount] = container.volumeMounts;
  assert.ok(settings.tokens.startsWith(`${mount.mountPath}/`));
  assert.ok(pod.volumes.some((volume) => volume.name === mount.name && volume.secret));

  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
  assert.equal(pod.enableServiceLinks, false);
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });

  const flags = container.args.slice(1).filter((flag) => !/^--(listen|tokens)=/.test(flag));
  const daemon = await startDaemon(...flags, '--tokens', tokens);
  try {
    const at = daemon.url.replace('ws:', 'http:');
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, port: name } = container[probe].httpGet;
      assert.equal(name, port.name);
      // The kubelet has no token, and calls the pod by its address.
      assert.equal((await fetch(at + path)).status, 200, path);
    }
    const metrics = at + annotations['prometheus.io/path'];
    assert.equal((await fetch(metrics)).status, 401);
    assert.equal((await fetch(metrics, { headers: { authorization: 'Bearer x' } })).status, 200);
  } finally {
    await daemon.stop();
  }
});
