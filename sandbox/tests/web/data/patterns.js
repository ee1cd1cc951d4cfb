// Cases of URLPattern: `{pattern, inputs, expected_obj, expected_match, exactly_empty_components}`. What a case leaves out
// is what it most probably is: the component of the pattern, of its base URL, or a wildcard.
(cases) => {
  const failed = [];
  let run = 0;
  const components = ["protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"];
  const earlier = {
    protocol: [], username: [], password: [], hostname: ["protocol"], port: ["protocol", "hostname"], pathname: ["protocol", "hostname", "port"],
    search: ["protocol", "hostname", "port", "pathname"], hash: ["protocol", "hostname", "port", "pathname", "search"],
  };
  const ordered = (_, value) => (Object.prototype.toString.call(value) === "[object Object]" ? Object.fromEntries(Object.entries(value).sort()) : value);
  const same = (a, b) => JSON.stringify(a, ordered) === JSON.stringify(b, ordered);
  const throwsTypeError = (f) => {
    try {
      f();
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  };
  const expectedPart = (entry, component) => {
    const [first, second] = entry.pattern;
    const given = entry.expected_obj?.[component];
    if (given !== undefined && given !== null) return given;
    if (entry.exactly_empty_components?.includes(component)) return "";
    if (typeof first === "object" && first[component]) return first[component];
    if (typeof first === "object" && earlier[component].some((name) => name in first)) return "*";
    const base = first?.baseURL ?? (typeof second === "string" ? second : undefined);
    if (base === undefined || component === "username" || component === "password") return "*";
    const value = new URL(base)[component];
    if (component === "protocol") return value.slice(0, -1);
    return component === "search" || component === "hash" ? value.slice(1) : value;
  };
  const check = (entry) => {
    if (entry.expected_obj === "error") return throwsTypeError(() => new URLPattern(...entry.pattern)) ? [] : ["accepted"];
    const wrong = [];
    const pattern = new URLPattern(...entry.pattern);
    for (const component of components) {
      const expected = expectedPart(entry, component);
      if (pattern[component] !== expected) wrong.push(`${component} ${pattern[component]}, not ${expected}`);
    }
    if (!("inputs" in entry)) return wrong;
    if (entry.expected_match === "error") {
      if (!throwsTypeError(() => pattern.test(...entry.inputs)) || !throwsTypeError(() => pattern.exec(...entry.inputs))) wrong.push("no TypeError");
      return wrong;
    }
    if (pattern.test(...entry.inputs) !== !!entry.expected_match) return [...wrong, `test() gives ${!entry.expected_match}`];
    const result = pattern.exec(...entry.inputs);
    if (!entry.expected_match) return result === null ? wrong : [...wrong, "a result"];
    if (!same(result.inputs, entry.expected_match.inputs ?? entry.inputs)) wrong.push(`inputs ${JSON.stringify(result.inputs)}`);
    for (const component of components) {
      const expected = entry.expected_match[component] ?? { input: "", groups: entry.exactly_empty_components?.includes(component) ? {} : { 0: "" } };
      const { input, groups } = result[component];
      if (input !== expected.input) wrong.push(`${component}.input ${input}, not ${expected.input}`);
      const names = Object.keys(expected.groups);
      if (!same(Object.keys(groups).sort(), names.sort()) || names.some((name) => groups[name] !== (expected.groups[name] ?? undefined))) {
        wrong.push(`${component}.groups ${JSON.stringify(groups)}, not ${JSON.stringify(expected.groups)}`);
      }
    }
    return wrong;
  };
  for (const entry of cases) {
    run += 1;
    let wrong;
    try {
      wrong = check(entry);
    } catch (error) {
      wrong = [`${error.name}: ${error.message}`];
    }
    if (wrong.length > 0) failed.push([JSON.stringify([entry.pattern, entry.inputs]), wrong.join("; ")]);
  }
  return { run, failed };
}
