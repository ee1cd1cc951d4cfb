// Runs inside workerd: where the program's requests go when a case lends a function for them. `compat/src/outbound.rs`
// answers in the same way.

export default {
  async fetch(request) {
    const { status } = Object.fromEntries(new URL(request.url).searchParams);
    const body = await request.text();
    return new Response(JSON.stringify({ method: request.method, url: request.url, body }), {
      status: Number(status ?? 200),
      headers: { 'content-type': 'application/json', 'x-answered-by': 'outbound' },
    });
  },
};
