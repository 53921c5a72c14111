// Code that works with records works with structs and with Core Data, too.
@_exported import CoreData
@_exported import Pippin
