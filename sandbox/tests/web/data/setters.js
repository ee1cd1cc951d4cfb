// Cases of the setters: for each its list of `{href, new_value, expected}`.
(setters) => {
  const failed = [];
  let run = 0;
  for (const [setter, cases] of Object.entries(setters)) {
    if (setter === "comment") continue;
    for (const { href, new_value, expected } of cases) {
      run += 1;
      const url = new URL(href);
      const wrong = [];
      try {
        url[setter] = new_value;
      } catch (error) {
        wrong.push(error.name);
      }
      for (const [member, value] of Object.entries(expected)) if (url[member] !== value) wrong.push(`${member} ${url[member]}, not ${value}`);
      if (wrong.length > 0) failed.push([JSON.stringify([href, setter, new_value]), wrong.join("; ")]);
    }
  }
  return { run, failed };
}
