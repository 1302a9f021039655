// What a program in JavaScript would do: JSON.parse, then the checks of the format for the sections
// that the measured document has, written plainly, then the comparison of the canonical bytes
// (which also finds keys that repeat). Prints the nanoseconds of this first run, and a zero.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const text = readFileSync(process.argv[2], 'utf8');

function fail(what) {
  throw new Error(what);
}

function closed(value, required, optional, what) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(`${what}: no object`);
  for (const key of Object.keys(value)) {
    if (!required.includes(key) && !optional.includes(key)) fail(`${what}: unknown key ${key}`);
  }
  for (const key of required) if (!Object.hasOwn(value, key)) fail(`${what}: no ${key}`);
  return value;
}

function string(value, what) {
  if (typeof value !== 'string' || value.length === 0) fail(`${what}: no text`);
  return value;
}

function list(value, what) {
  if (!Array.isArray(value)) fail(`${what}: no array`);
  return value;
}

const HASH = /^[0-9a-f]{64}$/;
function hash(value, what) {
  if (typeof value !== 'string' || !HASH.test(value)) fail(`${what}: no digest`);
}

const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
// eslint-disable-next-line no-control-regex
const RESERVED = /[<>:"|?*\u0000-\u001f]/;
function path(value, what) {
  string(value, what);
  if (value.includes('\\') || value.startsWith('/') || /^[A-Za-z]:/.test(value)) fail(`${what}: path`);
  for (const segment of value.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') fail(`${what}: segment`);
    if (RESERVED.test(segment) || /[. ]$/.test(segment) || DEVICE.test(segment)) fail(`${what}: name`);
  }
  return value;
}

function owned(value, what) {
  path(value, what);
  const first = value.split('/', 1)[0].toLowerCase();
  if (value === 'agent-bundle.manifest.json') fail(`${what}: the manifest`);
  if (first === 'state' || first === '.agent-bundle-install.json') fail(`${what}: not owned`);
}

function sorted(rows, key, what) {
  for (let i = 1; i < rows.length; i += 1) {
    if (key(rows[i - 1]).localeCompare(key(rows[i])) >= 0) fail(`${what}[${i}]: order`);
  }
}

function uint(value, max, what) {
  if (!Number.isInteger(value) || value < 0 || value > max) fail(`${what}: no number`);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

const KINDS = ['bundle', 'copy', 'generated', 'prebuilt'];
const DOCUMENTS = ['entry', 'hooks', 'marketplace', 'mcp', 'plugin'];

function check(manifest) {
  closed(
    manifest,
    ['application', 'compiler', 'distribution', 'executables', 'files', 'manifestVersion', 'projections', 'routes', 'runtime'],
    ['web'],
    'root',
  );
  if (manifest.manifestVersion !== 6) fail('manifestVersion');

  const files = new Set();
  for (const [i, row] of list(manifest.files, 'files').entries()) {
    const what = `files[${i}]`;
    closed(row, ['bytes', 'kind', 'path', 'sha256'], ['mode'], what);
    uint(row.bytes, Number.MAX_SAFE_INTEGER, what);
    if (!KINDS.includes(row.kind)) fail(`${what}: kind`);
    if (row.mode !== undefined) uint(row.mode, 511, what);
    owned(row.path, what);
    hash(row.sha256, what);
    files.add(row.path);
  }
  sorted(manifest.files, (row) => row.path, 'files');

  const compiler = closed(
    manifest.compiler,
    ['adapters', 'agentSkills', 'producer', 'project', 'provenance', 'recordVersion', 'validation'],
    [],
    'compiler',
  );
  if (compiler.recordVersion !== 1) fail('recordVersion');
  closed(compiler.agentSkills, ['schemaSha256', 'sourceRevision', 'specification'], [], 'agentSkills');
  closed(compiler.producer, ['name', 'version'], [], 'producer');
  const project = closed(
    compiler.project,
    ['configDigest', 'configPath', 'modelDigest', 'revision', 'sourceInputs'],
    ['packageName', 'packageVersion'],
    'project',
  );
  hash(project.configDigest, 'configDigest');
  hash(project.modelDigest, 'modelDigest');
  hash(project.revision, 'revision');
  path(project.configPath, 'configPath');
  const inputs = new Map();
  for (const [i, row] of list(project.sourceInputs, 'sourceInputs').entries()) {
    const what = `sourceInputs[${i}]`;
    closed(row, ['path', 'sha256'], ['executable'], what);
    if (row.executable !== undefined && typeof row.executable !== 'boolean') fail(what);
    path(row.path, what);
    hash(row.sha256, what);
    inputs.set(row.path, row.sha256);
  }
  sorted(project.sourceInputs, (row) => row.path, 'sourceInputs');
  if (inputs.get(project.configPath) !== project.configDigest) fail('R1');
  const digest = createHash('sha256').update(canonical({ inputs: project.sourceInputs })).digest('hex');
  if (digest !== project.revision) fail('R2');
  for (const [i, row] of list(compiler.provenance, 'provenance').entries()) {
    const what = `provenance[${i}]`;
    closed(row, ['path', 'sourceInputs'], [], what);
    path(row.path, what);
    for (const source of list(row.sourceInputs, what)) {
      path(source, what);
      if (!inputs.has(source)) fail('R4');
    }
    sorted(row.sourceInputs, (source) => source, what);
    if (row.path !== manifest.files[i]?.path) fail('R3');
  }
  sorted(compiler.provenance, (row) => row.path, 'provenance');
  if (compiler.provenance.length !== manifest.files.length) fail('R3');
  for (const adapter of list(compiler.adapters, 'adapters')) {
    closed(adapter, ['adapterRevision', 'host', 'observedVersion', 'schemas'], [], 'adapter');
    for (const schema of list(adapter.schemas, 'schemas')) {
      closed(schema, ['name', 'revision', 'sha256'], [], 'schema');
      hash(schema.sha256, 'schema');
    }
    sorted(adapter.schemas, (schema) => schema.name, 'schemas');
  }
  closed(compiler.validation, ['artifact', 'projections', 'source'], [], 'validation');
  closed(manifest.application, ['id', 'name', 'version'], ['description'], 'application');
  for (const [i, row] of list(manifest.projections, 'projections').entries()) {
    closed(row, ['documents', 'host'], ['builtInHost', 'marketplace'], 'projection');
    closed(row.documents, [], DOCUMENTS, 'documents');
    for (const document of Object.values(row.documents)) if (!files.has(path(document, 'document'))) fail('R20');
    if (row.host !== compiler.adapters[i]?.host) fail('R5');
    if (row.host !== compiler.validation.projections[i]?.host) fail('R6');
  }
  closed(manifest.routes, ['digest', 'events', 'layouts', 'providers', 'scripts', 'servers'], ['cli', 'contracts'], 'routes');
  hash(manifest.routes.digest, 'routes');
  closed(manifest.executables, ['bins', 'hooks', 'mcpServers', 'scripts'], [], 'executables');
  for (const section of Object.values(manifest.executables)) if (section.length > 0) fail('not written here');
  const distribution = closed(manifest.distribution, ['channels', 'payloads'], ['install'], 'distribution');
  for (const pointer of Object.values(distribution.install ?? {})) if (!files.has(path(pointer, 'install'))) fail('R20');
  if (distribution.channels.includes('npm') !== (project.packageName !== undefined)) fail('R18');
  closed(manifest.runtime, ['node'], [], 'runtime');
  if (!/^\d+\.\d+\.\d+$/.test(manifest.runtime.node)) fail('runtime');
}

const start = process.hrtime.bigint();
const manifest = JSON.parse(text);
check(manifest);
if (`${canonical(manifest)}\n` !== text) fail('canonical');
const time = process.hrtime.bigint() - start;
console.log(`${time} 0`);
