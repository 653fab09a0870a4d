"""Bad neighborhoods: URL prefixes under which copied content is frequent.

Ardi, Heidemann 2014, §3.1 step 6 and §3.3. `prefixes` are those of a URL, and the traps among
them; `neighborhoods` keeps the figures of each, and says when one opens and when it closes;
`contributions` lets a page that is seen again replace what it added before.
"""
