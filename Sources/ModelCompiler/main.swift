import CoreData

print("model compiler")
