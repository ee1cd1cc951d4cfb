// A report about a git repository, made of two commands that run at the same time. From the root of a clone:
//
//   cargo run --release -- run examples/repo-report.js \
//     --tool git.log='git log -n 500 --date=short --name-only --format=%x1e%h%x1f%an%x1f%ad%x1f%s' \
//     --tool git.files='git ls-files'
//
// The program itself runs in a sandbox without files, network or processes: all it can do is call these two tools.
// It works on a shallow clone too; the history is then as long as what was fetched.

async () => {
  const [log, files] = await Promise.all([git.log(), git.files()]);

  const commits = log
    .split("\x1e")
    .filter((entry) => entry.trim() !== "")
    .map((entry) => {
      const [head, ...paths] = entry.split("\n");
      const [hash, author, date, subject] = head.split("\x1f");
      return { hash, author, date, subject, paths: paths.filter((path) => path !== "") };
    });
  const paths = files.split("\n").filter((path) => path !== "");
  console.log(`read ${commits.length} commits and ${paths.length} paths`);

  const count = (items) => {
    const counts = new Map();
    for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
    return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  };
  const top = (counts, bound) => Object.fromEntries(counts.slice(0, bound));

  const folder = (path) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : ".");
  const type = (path) => /[^/.](\.[A-Za-z0-9]+)$/.exec(path)?.[1] ?? "(none)";
  const tracked = new Set(paths);
  const touched = commits.flatMap((commit) => commit.paths);
  if (commits.length === 1) console.warn("only one commit is here: a shallow clone, or a new repository");

  return {
    commits: {
      count: commits.length,
      from: commits.at(-1)?.date,
      to: commits[0]?.date,
      perAuthor: top(count(commits.map((commit) => commit.author)), 10),
      perMonth: top(count(commits.map((commit) => commit.date.slice(0, 7))), 12),
      filesPerCommit: commits.length && Math.round((10 * touched.length) / commits.length) / 10,
    },
    files: {
      count: paths.length,
      perType: top(count(paths.map(type)), 10),
      perFolder: top(count(paths.map(folder)), 15),
    },
    busiest: {
      files: top(count(touched.filter((path) => tracked.has(path))), 10),
      folders: top(count(touched.map(folder)), 10),
    },
    latest: commits.slice(0, 5).map(({ hash, date, subject }) => `${date} ${hash} ${subject}`),
  };
};
