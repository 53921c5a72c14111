import CoreData
import Foundation
import SwiftData
import TestSupport
import Testing

@Model
final class Cocktail {
    var name: String
    var isCustom = false
    var made: Date
    var number = UUID()
    /// One way: a measure knows no cocktail.
    var spec: [Measure] = []
    var garnish: [Garnish] = []

    init(_ name: String) {
        self.name = name
        made = Date(timeIntervalSinceReferenceDate: 7.5)
    }
}

@Model
final class Garnish {
    var name: String
    var cocktails: [Cocktail] = []

    init(_ name: String) { self.name = name }
}

@Model
final class Measure {
    var amount: Double

    init(_ amount: Double) { self.amount = amount }
}

/// How Apple's stores keep models, as it was read from some.
@Suite("The store of models")
struct ObservedStoreTests {
    private func store(in folder: TestFolder) throws -> ModelContext {
        let container = try ModelContainer(for: Cocktail.self, configurations: ModelConfiguration(url: folder.store))
        return ModelContext(container)
    }

    @Test("numbers entities by their names, and has a column in the destination for an array that leads one way")
    func oneWay() throws {
        let folder = try TestFolder()
        let context = try store(in: folder)
        let cocktail = Cocktail("Daiquiri")
        cocktail.spec = [Measure(2), Measure(1)]
        context.insert(cocktail)
        try context.save()
        #expect(
            try plainSQL("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 100 ORDER BY 1", in: folder.store)
                == ["1|Cocktail", "2|Garnish", "3|Measure"])
        #expect(
            try plainSQL("SELECT ZAMOUNT, Z1SPEC FROM ZMEASURE ORDER BY ZAMOUNT", in: folder.store)
                == ["1.0|1", "2.0|1"])
    }

    @Test("has a table of pairs for a relationship from many to many")
    func manyToMany() throws {
        let folder = try TestFolder()
        let context = try store(in: folder)
        let (lime, cherry) = (Garnish("lime"), Garnish("cherry"))
        for name in ["a", "b"] {
            let cocktail = Cocktail(name)
            cocktail.garnish = [lime, cherry]
            context.insert(cocktail)
        }
        try context.save()
        let pairs = "SELECT COUNT(*) FROM Z_1GARNISH WHERE Z_1COCKTAILS > 0 AND Z_2GARNISH > 0"
        #expect(try plainNumber(pairs, in: folder.store) == 4)
        #expect(Set(lime.cocktails.map(\.name)) == ["a", "b"])
    }

    @Test("keeps identifiers as bytes, dates as seconds since 2001, Booleans as integers")
    func values() throws {
        let folder = try TestFolder()
        let context = try store(in: folder)
        context.insert(Cocktail("a"))
        try context.save()
        #expect(
            try plainSQL(
                "SELECT typeof(ZNUMBER), length(ZNUMBER), ZMADE, typeof(ZISCUSTOM) FROM ZCOCKTAIL", in: folder.store)
                == ["blob|16|7.5|integer"])
    }

    @Test("names 1.0.0 as the version of a schema without one")
    func version() throws {
        let folder = try TestFolder()
        withExtendedLifetime(try store(in: folder)) {}
        #expect(try storedVersions(folder.store) == ["1.0.0"])
    }

    @Test("is in a folder of its own for a group of programs")
    func group() {
        let own = ModelConfiguration("shelf")
        let shared = ModelConfiguration("shelf", groupContainer: .identifier("group.books"))
        #expect(shared.url.lastPathComponent == "shelf.store")
        #expect(shared.url.path.contains("group.books"))
        #expect(own.url != shared.url)
    }
}

/// The version identifiers in a store's metadata.
func storedVersions(_ store: URL) throws -> [String]? {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
    return metadata[NSStoreModelVersionIdentifiersKey] as? [String]
}
