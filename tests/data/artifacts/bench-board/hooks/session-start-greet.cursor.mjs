// Prints a line of context at the start of a session (cursor).
process.stdin.resume();
process.stdin.on('end', () => {
  process.stdout.write(JSON.stringify({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'bench-board is here' },
  }));
});
