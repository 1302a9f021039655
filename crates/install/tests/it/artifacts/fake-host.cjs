#!/usr/bin/env node
// Stands for `claude` and `codex`: the verbs of both, a state file in the home, a log of what was
// run, and faults on demand: FAKE="fail|lie|hang|garbage|flood|die WORD WORD".
const fs = require("node:fs");
const path = require("node:path");
const name = path.basename(process.argv[1]);
const isClaude = name === "claude";
const words = process.argv.slice(2);
const home = isClaude
    ? process.env.CLAUDE_CONFIG_DIR || path.join(process.env.HOME, ".claude")
    : process.env.CODEX_HOME || path.join(process.env.HOME, ".codex");
fs.mkdirSync(home, { recursive: true });
const file = path.join(home, "fake.json");
const state = fs.existsSync(file)
    ? JSON.parse(fs.readFileSync(file, "utf8"))
    : { marketplaces: {}, plugins: [] };
fs.appendFileSync(path.join(process.env.HOME, "fake.log"), `${name} ${words.join(" ")}\n`);
const save = () => fs.writeFileSync(file, JSON.stringify(state));
const fail = (what) => {
    process.stderr.write(`${what}\n`);
    process.exit(1);
};
const [fault, ...on] = (process.env.FAKE || "").split(" ");
const struck = on.length > 0 && words.join(" ").startsWith(on.join(" "));
if (struck && fault === "fail") fail("the fake was told to fail");
if (struck && fault === "lie") process.exit(0);
if (struck && fault === "hang") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
if (struck && fault === "garbage") {
    process.stdout.write("\u0000no json{");
    process.exit(0);
}
if (struck && fault === "flood") {
    const line = Buffer.alloc(1 << 20, "x");
    for (let at = 0; at < 100; at++) fs.writeSync(1, line);
    process.exit(0);
}
const scope = words.includes("--scope") ? words[words.indexOf("--scope") + 1] : "user";
const here = (row) => row.scope === scope && (scope === "user" || row.projectPath === process.cwd());
const read = (root) => {
    const at = [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"];
    const found = (isClaude ? at : at.toReversed()).find((one) => fs.existsSync(path.join(root, one)));
    return JSON.parse(fs.readFileSync(path.join(root, found), "utf8"));
};
const drop = (gone) => {
    state.plugins = state.plugins.filter((row) => !gone(row));
};
const line = words.slice(0, 3).join(" ");
if (line === "--version") {
    process.stdout.write("1.0.0 (fake)\n");
    process.exit(0);
}
if (line.startsWith("plugin marketplace add")) {
    const root = words[3];
    const { name: known } = read(root);
    if (!isClaude && state.marketplaces[known] && state.marketplaces[known] !== root)
        fail(`marketplace '${known}' is already added from a different source`);
    state.marketplaces[known] = root;
} else if (line === "plugin marketplace remove") {
    if (!state.marketplaces[words[3]]) fail("no such marketplace");
    delete state.marketplaces[words[3]];
    drop((row) => row.id.endsWith(`@${words[3]}`));
} else if (line === "plugin marketplace list") {
    const rows = Object.entries(state.marketplaces).map(([name, root]) =>
        isClaude ? { name, source: "directory", path: root } : { name, root });
    process.stdout.write(JSON.stringify(isClaude ? rows : { marketplaces: rows }));
} else if (/^plugin (install|add) /.test(line)) {
    const id = words[2];
    const [plugin, marketplace] = id.split("@");
    const root = state.marketplaces[marketplace];
    if (!root || !read(root).plugins.some((row) => row.name === plugin)) fail("plugin not found");
    const manifest = JSON.parse(fs.readFileSync(
        path.join(root, isClaude ? ".claude-plugin/plugin.json" : ".codex-plugin/plugin.json")));
    const installPath =
        path.join(home, "plugins/cache", marketplace, plugin, manifest.version);
    fs.rmSync(installPath, { recursive: true, force: true });
    fs.cpSync(root, installPath, { recursive: true });
    drop((row) => row.id === id && here(row));
    const row = { id, version: manifest.version, scope, installPath, enabled: true };
    if (scope !== "user") row.projectPath = process.cwd();
    state.plugins.push(row);
} else if (/^plugin (uninstall|remove) /.test(line)) {
    if (!state.plugins.some((row) => row.id === words[2] && here(row))) fail("not installed");
    drop((row) => row.id === words[2] && here(row));
} else if (/^plugin disable /.test(line)) {
    state.plugins.filter((row) => row.id === words[2]).forEach((row) => (row.enabled = false));
} else if (line.startsWith("plugin list")) {
    const errors = process.env.FAKE_ERRORS ? { errors: [{ message: process.env.FAKE_ERRORS }] } : {};
    const rows = state.plugins.map((row) => {
        const root = state.marketplaces[row.id.split("@")[1]];
        return isClaude
            ? { ...row, readFromFolder: root, ...errors }
            : { pluginId: row.id, version: row.version, installed: true, enabled: true };
    });
    process.stdout.write(JSON.stringify(isClaude ? rows : { installed: rows, available: [] }));
} else {
    fail(`unknown command: ${line}`);
}
save();
