import LoopbackServer
print("x")
