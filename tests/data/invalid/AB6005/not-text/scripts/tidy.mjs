export const a = "ÿ";
