// SPDX-License-Identifier: MIT
// costs.mjs - benchmarks of known proportions through tinybench
import { Bench } from "tinybench";
import { withCodSpeed } from "@codspeed/tinybench-plugin";

// fib(20) makes 11.09 times the calls of fib(15)
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

const bench = withCodSpeed(new Bench({ name: "numbers" }));

bench
	.add("fib 15", () => fib(15))
	.add("fib 20", () => fib(20))
	.add("a block", () => { Buffer.alloc(1 << 20); })
	.add("a larger block", () => { Buffer.alloc(3 << 20); })
	.add("a [b] :: ü \"c\"", () => "x".repeat(10));

await bench.run();
console.log("done", process.execArgv.length > 0 ? "with flags" : "without flags");
