"""Beside the point: what values with many digits tell where the rules of a point cannot.

`differences` tells the slopes on both sides, `limits` where one quantity goes, `singular` which inputs need it and what
answers (`hull` where several inputs meet at a corner), `holes` what value and slopes approach where there is none,
`one_sided` puts it into records and words.
"""
