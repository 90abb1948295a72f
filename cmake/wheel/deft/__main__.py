from deft import main

main()
