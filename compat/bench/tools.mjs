// The tools that every arm lends to the programs.

/** Rows that take about so many KiB as JSON. */
function rows({ kib }) {
  const row = (id) => ({ id, name: `row number ${id}`, value: id / 3, tags: ['alpha', 'beta'], text: 'a line of text of a usual length' });
  const size = JSON.stringify(row(1000)).length + 1;
  return Array.from({ length: Math.floor(kib * 1024 / size) }, (_, id) => row(id));
}

const prepared = new Map([240, 1024].map((kib) => [kib, rows({ kib })]));

export const tools = {
  echo: async (value) => value,
  rows: async ({ kib }) => prepared.get(kib) ?? rows({ kib }),
};
