import CoreData
import Foundation
import Geometry
import Library

/// A record class inside another type, in an executable.
enum Records {
    final class Visitor: NSManagedObject {
        @NSManaged var name: String
        @NSManaged var friends: Set<Visitor>
        @NSManaged var mood: Mood?
    }

    enum Mood: String { case calm, cross }
}

/// Stops the program if something is not as it should be.
func check(_ condition: @autoclosure () throws -> Bool, _ sentence: String, line: Int = #line) throws {
    guard try condition() else { throw CheckFailure(description: "Check.swift:\(line): not so: \(sentence)") }
}

struct CheckFailure: Error, CustomStringConvertible {
    let description: String
}

@main
enum Check {
    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("PluginPackage-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        try check(libraryModel() != nil, "Bundle.module finds the compiled model")
        let store = folder.appendingPathComponent("library.sqlite")
        try write(makeContext(store))
        try read(makeContext(store))
        try checkValidator(makeContext(store))
        try checkNestedClass()
        try checkOtherModels()
        print("The plugin's package works.")
    }

    static func checkValidator(_ context: NSManagedObjectContext) throws {
        Book(context: context).title = "?"
        do {
            try context.save()
        } catch CocoaError.validationStringPatternMatching { return }
        try check(false, "a save calls validateTitle(_:) of a class in another module")
    }

    static func makeContext(_ store: URL) throws -> NSManagedObjectContext {
        let container = NSPersistentContainer(name: "Library")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container.viewContext
    }
}
