"""The stages: messages in, messages out, and a state that can be saved (`stage`).

`fingerprinting` makes blocks of pages. `indexing` judges them over the sliding window, with
`labeled`, `discovering`, `similarity` and `evidencing` as its parts; `index_reports` says what it
found. `neighboring` judges URL prefixes. A stage knows no bus: `running` moves its messages.
"""
