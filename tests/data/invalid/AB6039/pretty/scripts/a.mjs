import "node:fs";
export { b } from "./b.mjs";
