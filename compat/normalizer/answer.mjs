// Answers for the dialect: reads lines `{"normalize": code}` or `{"sanitize": name}` to the end of its input, then writes
// for each line what the package makes of it.
import { readFileSync } from 'node:fs'
import { register } from 'node:module'

// The package's entry also holds its executor, which imports a module of workerd; the two functions asked for here do not.
const workers = 'export class DurableObject {}; export class RpcTarget {}; export class WorkerEntrypoint {}'
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === 'cloudflare:workers'
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(workers)}`)}, shortCircuit: true }
    : next(specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const { normalizeCode, sanitizeToolName } = await import('@cloudflare/codemode')

const lines = readFileSync(0, 'utf8').split('\n').filter(line => line !== '')
const answers = lines.map(line => {
  const { normalize, sanitize } = JSON.parse(line)
  return JSON.stringify(normalize === undefined ? sanitizeToolName(sanitize) : normalizeCode(normalize))
})
process.stdout.write(answers.join('\n'))
