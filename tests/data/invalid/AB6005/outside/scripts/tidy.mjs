await import("../../a.mjs");
