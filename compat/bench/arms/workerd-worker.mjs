// Runs inside workerd: the body of a request is a program.

import { DynamicWorkerExecutor } from '@cloudflare/codemode';
import { tools } from '../tools.mjs';

export default {
  async fetch(request, env) {
    const executor = new DynamicWorkerExecutor({ loader: env.LOADER, timeout: 30_000 });
    const { result, error } = await executor.execute(await request.text(), [{ name: 'api', fns: tools }]);
    return Response.json({ result, error });
  },
};
