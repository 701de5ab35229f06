// Waits for facts. The limit is generous, because an agent takes half a minute to start and end on
// a busy machine. Only what never comes reaches the limit.
const limit = 120_000;

/** The promise's value. If it does not come, throws an error that names it. */
export async function within(promise, what) {
  let timer;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what()} did not come`)), limit);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until the answer is not empty. Only for facts that the system does not report. */
export async function until(question, what) {
  const end = Date.now() + limit;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`${what()} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What has arrived, in order, and the functions that wait for more. */
export class Mailbox {
  items = [];
  #waiting = new Set();

  push(item) {
    this.items.push(item);
    for (const look of [...this.#waiting]) look();
  }

  /** The first matching item at or after `from`. Waits for it if need be. */
  async find(matches, what, from = 0) {
    let look;
    const found = new Promise((resolve) => {
      look = () => {
        const item = this.items.slice(from).find(matches);
        if (item !== undefined) resolve(item);
      };
    });
    this.#waiting.add(look);
    look();
    try {
      return await within(found, () => `${what}, after ${JSON.stringify(this.items.slice(-5))}`);
    } finally {
      this.#waiting.delete(look);
    }
  }
}
