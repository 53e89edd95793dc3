"""The CDK app: a construct per noun, one stack that wires them and says who may touch what."""
