// Cases of the URL parser: `{input, base, failure}` or what each getter shows.
(cases) => {
  const failed = [];
  let run = 0;
  const members = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  for (const entry of cases) {
    if (typeof entry === "string") continue;
    run += 1;
    const { input, base, failure } = entry;
    const args = base === null || base === undefined ? [input] : [input, base];
    const wrong = [];
    let url;
    try {
      url = new URL(...args);
    } catch (error) {
      if (error.name !== "TypeError") wrong.push(error.name);
    }
    if (URL.canParse(...args) !== (url !== undefined)) wrong.push("canParse");
    if (URL.parse(...args)?.href !== url?.href) wrong.push("parse");
    if ((url === undefined) !== (failure === true)) wrong.push(url === undefined ? "refused" : `accepted as ${url.href}`);
    else if (url !== undefined) {
      for (const member of members) if (member in entry && url[member] !== entry[member]) wrong.push(`${member} ${url[member]}, not ${entry[member]}`);
      if (String(url.searchParams) !== String(new URLSearchParams(entry.search))) wrong.push("searchParams");
      if (new URL(url.href).href !== url.href) wrong.push("its href reads differently");
    }
    if (wrong.length > 0) failed.push([JSON.stringify(args), wrong.join("; ")]);
  }
  return { run, failed };
}
