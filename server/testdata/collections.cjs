// Runs request collections one after the other in one process, as newman's own command would
// run each: newman's folder, what --env-var takes, and collection and report of each.
const [newman, variables, ...files] = process.argv.slice(2);
const { run } = require(newman);
const envVar = Object.entries(JSON.parse(variables)).map(([key, value]) => ({ key, value }));
const next = () => {
  if (files.length === 0) return;
  const [collection, report] = files.splice(0, 2);
  run({
    collection: require(collection), envVar, reporters: 'json', reporter: { json: { export: report } },
    suppressExitCode: true, timeoutRequest: 10000,
  }, error => {
    if (error) throw error;
    next();
  });
};
next();
