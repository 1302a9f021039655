export const description = "Compare benchmark runs and spot regressions.";

export default async function benchBoard(amp) {
  await amp.registerSkill({ path: 'skills/read-report' });
}
