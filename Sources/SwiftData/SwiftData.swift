// What a file that imports SwiftData alone sees of other modules.
@_exported import class CoreData.UndoManager
@_exported import struct CoreDataModel.NSValueTransformerName
@_exported import class CoreDataModel.ValueTransformer
@_exported import Observation
