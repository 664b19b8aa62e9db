"""English words that carry grammar rather than content."""

ENGLISH_FUNCTION_WORDS = frozenset(
    """
    a an the this that these those such same other another each every either neither both all any some no none few
    many much more most several enough i me my mine myself you your yours yourself yourselves he him his himself she
    her hers herself it its itself we us our ours ourselves they them their theirs themselves one ones someone
    somebody something anyone anybody anything everyone everybody everything nobody nothing who whom whose which what
    whoever whatever be am is are was were been being do does did doing done have has had having can could may might
    must shall should will would ought need and or but nor so yet for if unless until because since while whereas
    although though as than whether when whenever where wherever why how of at by with without about against between
    among into through during before after above below to from up down in out on off over under again further then
    once here there toward towards upon within along across behind beside besides beyond near per via like not only
    own just very too also even still already ever never always often quite rather really well oh okay ok yes yeah
    yep no nope hmm um uh ah hi hello hey thanks thank please let's i'm i've i'd i'll you're you've you'd you'll he's
    he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll they're they've they'd they'll that's
    that'd there's here's what's who's where's how's isn't aren't wasn't weren't don't doesn't didn't haven't hasn't
    hadn't can't cannot couldn't won't wouldn't shouldn't mustn't mightn't needn't
    """.split()  # noqa: SIM905 - readable as it stands
)
