// The worker of one launch; the page ends it when the launch is over or takes too long.
import { CAN_SUSPEND, run } from './runner.mjs';

const MOST_PRINTED = 200_000;
let printed = 0;

onmessage = async ({ data: { bytes, job } }) => {
  try {
    const module = await WebAssembly.compile(bytes);
    const answer = await run(module, job, text => {
      if (printed < MOST_PRINTED) postMessage({ printed: text });
      printed += text.length;
    });
    postMessage({ answer, suspends: CAN_SUSPEND });
  } catch (error) {
    postMessage({ failed: String(error?.stack ?? error) });
  }
};
