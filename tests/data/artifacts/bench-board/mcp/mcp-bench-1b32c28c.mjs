// A server with one tool, spoken to in lines of JSON over standard input and output.
import { createInterface } from 'node:readline';

const tool = {
  name: 'slower',
  description: 'Says by how many per cent the second median is above the first.',
  inputSchema: {
    type: 'object',
    properties: { before: { type: 'number' }, after: { type: 'number' } },
    required: ['before', 'after'],
    additionalProperties: false,
  },
};

function answer(method, params) {
  if (method === 'initialize') {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'bench', version: '0.3.0' },
    };
  }
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: [tool] };
  if (method === 'tools/call' && params.name === 'slower') {
    const { before, after } = params.arguments;
    const percent = Math.round((after / before - 1) * 100);
    return { content: [{ type: 'text', text: String(percent) }] };
  }
  return undefined;
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answer(method, params ?? {});
  const reply = result === undefined ? { error: { code: -32601, message: 'no ' + method } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\n');
}
