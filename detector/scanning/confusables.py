"""Letters that look like a letter of ASCII: data, no code.

Each is written beside the letter that it is taken for. Of Unicode's confusables (Unicode Technical
Standard 39, confusables.txt, version 13.0.0) those of one letter to one letter, in the alphabets
Latin, Greek, Cyrillic, Armenian, Cherokee, Coptic and Lisu; and Latin small capitals.

(c) 1991-2020 Unicode, Inc. All rights reserved. Distributed under the Terms of Use in
https://www.unicode.org/copyright.html; the Unicode data files licence (SPDX: Unicode-DFS-2016)
allows to use, change and pass them on with this notice. Written by
tests/detector/scanning/make_confusables.py; never edited by hand.
"""

CONFUSABLES = """
131:i 185:b 18d:g 1bd:s 1c0:l 251:a 261:g 262:g 263:y 269:i 26a:i 26f:w 274:n 280:r
28b:u 28f:y 299:b 29c:h 29d:j 29f:l 3b1:a 3b2:b 3b3:y 3b5:e 3b6:z 3b7:h 3b9:i 3ba:k
3bc:m 3bd:v 3bf:o 3c1:p 3c3:o 3c4:t 3c5:u 3c7:x 3dd:f 3f3:j 3fb:m 430:a 432:b 433:r
435:e 43a:k 43c:m 43d:h 43e:o 440:p 441:c 442:t 443:y 445:x 44c:b 455:s 456:i 458:j
461:w 475:v 4af:y 4bb:h 4bd:e 4cf:i 501:d 50d:g 51b:q 51d:w 561:w 563:q 566:q 570:h
578:n 57c:n 57d:u 57f:s 581:g 584:f 585:o 13a0:d 13a1:r 13a2:t 13a5:i 13a9:y 13aa:a 13ab:j
13ac:e 13b1:r 13b3:w 13b7:m 13bb:h 13bd:y 13c0:g 13c2:h 13c3:z 13cf:b 13d2:r 13d4:w 13d5:s 13d9:v
13da:s 13de:l 13df:c 13e2:p 13e6:k 13e7:d 13f3:g 13f4:b 1d00:a 1d04:c 1d05:d 1d07:e 1d0a:j 1d0b:k
1d0d:m 1d0f:o 1d11:o 1d18:p 1d1b:t 1d1c:u 1d20:v 1d21:w 1d22:z 1d26:r 1d83:g 1d8c:y 1e9d:f 1eff:y
2c85:r 2c8f:h 2c93:i 2c95:k 2c99:m 2c9b:n 2c9f:o 2ca3:p 2ca5:c 2ca7:t 2ca9:y 2cad:x 2cd1:l a4d0:b
a4d1:p a4d2:d a4d3:d a4d4:t a4d6:g a4d7:k a4d9:j a4da:c a4dc:z a4dd:f a4df:m a4e0:n a4e1:l a4e2:s
a4e3:r a4e6:v a4e7:h a4ea:w a4eb:x a4ec:y a4ee:a a4f0:e a4f2:l a4f3:o a4f4:u a647:i a730:f a731:s
a799:f a79f:u a7af:q a7b5:b ab32:e ab35:f ab3d:o ab47:r ab48:r ab4e:u ab52:u ab53:x ab5a:y
"""
