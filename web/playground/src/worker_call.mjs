// A worker that answers numbered messages, as promises.
export class Asked {
  // `progress`: called with bytes that came while the worker fetches what it needs.
  constructor(script, progress) {
    this.worker = new Worker(new URL(script, import.meta.url), { type: 'module' });
    this.waiting = new Map();
    this.worker.onmessage = ({ data }) => {
      if (data.bytes !== undefined) return progress(data.bytes);
      const { resolve, reject } = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.failed) reject(new Error(data.failed));
      else resolve(data);
    };
    this.worker.onerror = event => this.end(new Error(event.message || `${script} could not be started`));
  }

  ask(message) {
    const number = Asked.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      this.worker.postMessage({ ...message, number });
    });
  }

  end(error = new Stopped()) {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
Asked.next = 1;

export class Stopped extends Error {}
