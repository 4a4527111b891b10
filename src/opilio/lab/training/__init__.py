"""Training of the default judge and strategy: `opilio lab train`.

states.py    crawls that log what they saw, in processes that know no label
fitting.py   logistic regressions whose weights are not negative
train.py     topics and webs, left out in turn; the weights file
"""
