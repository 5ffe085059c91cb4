// Opens the page in Firefox, over WebDriver BiDi, which Firefox speaks itself: node drive/firefox.mjs <firefox> <visits as JSON>.
//
// A visit: { address, edit: [old, new] or null, most: seconds of a Run }. Prints what the page showed after each Run, as JSON.
import puppeteer from 'puppeteer-core';

const [executablePath, visits] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true, protocolTimeout: 600_000 });
try {
  const page = await browser.newPage(), seen = [];
  let wrong = [];
  page.on('pageerror', error => wrong.push(String(error)));
  for (const { address, edit = null, most } of JSON.parse(visits)) {
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForSelector('html[data-ready=yes]');
    if (edit) await write(page, (await page.$eval('.cm-content', all => [...all.querySelectorAll('.cm-line')].map(one => one.textContent).join('\n'))).replace(...edit));
    await page.click('#run');
    await page.waitForSelector('#run:not([disabled])', { timeout: 1000 * most });
    seen.push({ ...(await page.evaluate(shown)), wrong });
    wrong = [];
  }
  process.stdout.write(JSON.stringify({ version: await browser.version(), seen }));
} finally {
  await browser.close();
}

async function write(page, text) {
  await page.click('.cm-content');
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.evaluate(given => document.execCommand('insertText', false, given), text);  // the driver types single letters only
}
function shown() {
  const text = id => document.getElementById(id).innerText;
  const marks = document.querySelectorAll('.cm-lint-marker-error');
  // The gutters of a line stand at one height.
  const tops = [...marks].map(mark => mark.getBoundingClientRect().top);
  const numbers = [...document.querySelectorAll('.cm-lineNumbers .cm-gutterElement')];
  const lines = tops.map(top => Number(numbers.find(one => Math.abs(one.getBoundingClientRect().top - top) < 8)?.textContent));
  return {
    verdict: text('verdict'), findings: text('findings'), numbers: text('numbers'), status: text('status'), modelled: text('modelled'), lines,
    canSuspend: typeof WebAssembly.Suspending === 'function', offline: Boolean(navigator.serviceWorker?.controller),
  };
}
