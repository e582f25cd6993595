// SPDX-License-Identifier: MIT
// costs.bench.mjs - benchmarks of known proportions, as vitest finds them
import { bench, describe } from "vitest";

function work(turns) {
	let sum = 0;
	for (let i = 0; i < turns; i++)
		sum = (sum * 31 + i) % 1000003;
	return sum;
}

describe("loops", () => {
	bench("once", () => { work(20000); });
	bench("twice", () => { work(40000); });
});

bench("a block", () => { Buffer.alloc(1 << 20); });
bench("a larger block", () => { Buffer.alloc(3 << 20); });
