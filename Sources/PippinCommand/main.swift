import CoreData

print("pippin")
