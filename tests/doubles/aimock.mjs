// Starts aimock on a free port of 127.0.0.1 with the fixtures of the first argument, prints its address, and ends with
// whoever started it: when standard input closes.

import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
mock.addFixturesFromJSON(process.argv[2]);
console.log(await mock.start());
process.stdin.on("end", () => process.exit(0)).resume();
