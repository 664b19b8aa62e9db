from convolabel.cli import main

main()
