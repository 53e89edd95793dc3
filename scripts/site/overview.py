"""What runs where, as a drawing: who asks, what answers, and where things are kept."""

from scripts.site.drawing import Arrow, Box, picture

GROUPS = (Box(x=190, y=20, width=730, height=330, words=["your AWS account"], kind="group"),)
BOXES = (
    Box(x=20, y=62, width=120, height=52, words=["people", "access tokens"]),
    Box(x=20, y=256, width=120, height=52, words=["hosts", "signatures"]),
    Box(x=215, y=159, width=125, height=52, words=["API Gateway", "lets in, or not"]),
    Box(x=410, y=62, width=140, height=52, words=["status, tasks", "people's routes"]),
    Box(x=410, y=159, width=140, height=52, words=["host", "hosts' routes"]),
    Box(x=410, y=256, width=140, height=52, words=["turns", "runs the agents"]),
    Box(x=620, y=129, width=130, height=68, words=["DynamoDB", "all that was", "ever promised"], kind="end"),
    Box(x=620, y=256, width=130, height=52, words=["SQS FIFO", "wake-ups"]),
    Box(x=800, y=62, width=105, height=52, words=["publish", "each status"]),
    Box(x=800, y=159, width=105, height=52, words=["sweep", "each minute"]),
    Box(x=785, y=256, width=125, height=52, words=["S3", "files, by signed URL"]),
    Box(x=960, y=62, width=120, height=52, words=["EventBridge", "who listens"]),
)
ARROWS = (
    Arrow(points=[(140, 100), (213, 170)]),
    Arrow(points=[(140, 270), (213, 200)]),
    Arrow(points=[(340, 172), (408, 102)]),
    Arrow(points=[(340, 185), (408, 185)]),
    Arrow(points=[(550, 98), (618, 140)], words=["one conditional", "transaction"], at=(600, 92)),
    Arrow(points=[(550, 185), (618, 175)]),
    Arrow(points=[(550, 262), (633, 199)]),
    Arrow(points=[(618, 285), (552, 285)], words=["look!"], at=(585, 279)),
    Arrow(points=[(700, 199), (700, 254)], words=["after each write"], at=(706, 232), anchor="start"),
    Arrow(
        points=[(685, 308), (685, 332), (80, 332), (80, 310)],
        words=["to each host, from a queue of its own"],
        at=(310, 326),
    ),
    Arrow(points=[(752, 148), (798, 108)]),
    Arrow(points=[(800, 180), (752, 170)], words=["what", "is due"], at=(786, 200), anchor="end"),
    Arrow(points=[(905, 88), (958, 88)]),
)


def drawn() -> str:
    """The drawing as SVG."""
    return picture(
        1100,
        370,
        "Turnkeeper in an account",
        "People come with tokens and hosts with signatures through API Gateway to Lambda functions, which keep "
        "everything in DynamoDB by conditional transactions; wake-ups go through SQS FIFO to the function that "
        "runs the agents; a sweep looks each minute at what is due; each status is published on EventBridge.",
        [
            *(group.svg() for group in GROUPS),
            *(arrow.svg() for arrow in ARROWS),
            *(box.svg() for box in BOXES),
        ],
    )
