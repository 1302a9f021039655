export { a } from "./parts/a.mjs";
