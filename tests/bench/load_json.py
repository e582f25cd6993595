# SPDX-License-Identifier: MIT
"""Heap work of a program in Python: 20000 documents, about 12 events of malloc and free each."""
import json

values = [{"k": i, "v": str(i)} for i in range(30)]
text = json.dumps({**{"key %d" % i: i for i in range(24)}, "values": values})
for _ in range(20000):
    json.loads(text)
