import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("A condition on the destinations of a to-many relationship")
struct FoundDestinationTests {
    private let folder: TestFolder
    private let context: NSManagedObjectContext
    private let model: NSManagedObjectModel

    init() throws {
        folder = try TestFolder()
        model = makeModel(
            makeEntity(
                "Album", makeAttribute("name", .stringAttributeType),
                makeToMany("photos", "Photo", inverse: "album")),
            makeEntity(
                "Photo", makeAttribute("name", .stringAttributeType), makeAttribute("code", .stringAttributeType),
                makeAttribute("hidden", .booleanAttributeType), makeToOne("album", "Album", inverse: "photos"),
                makeToMany("tags", "Tag", inverse: "photos")
            ).with(index: "byCode", "code").with(index: "byHidden", "hidden"),
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType), makeToMany("photos", "Photo", inverse: "tags")))
        context = try Library.stored(at: folder.store, model).newBackgroundContext()
        try fill()
    }

    private func fill() throws {
        try context.performAndWait {
            let tags = ["red", "Red", "réd", "blue", nil].map { context.make("Tag", ["name": $0]) }
            let albums = (0..<3).map { context.make("Album", ["name": "album \($0)"]) }
            for number in 0..<24 {
                let photo = context.make("Photo", ["name": "photo \(number)", "hidden": number % 2 == 0])
                if number % 5 != 0 { photo.setValue("code \(number % 7)", forKey: "code") }
                if number % 4 != 0 { photo.setValue(albums[number % 2], forKey: "album") }
                photo.setValue(Set((0..<(number % 4)).map { tags[(number + $0) % 5] }), forKey: "tags")
            }
            try context.save()
        }
    }

    /// What SQLite says of how it will run a fetch.
    private func plan(_ predicate: NSPredicate, of name: String) throws -> String {
        let schema = SQLSchema(layout: try model.compiledLayout())
        let entity = try #require(schema.layout.entityByName[name])
        let prepared = try preparedPredicate(of: predicate)
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .identifiers, predicate: prepared.skeleton,
            arguments: prepared.arguments)
        return try plainSQL("EXPLAIN QUERY PLAN \(fetch.sql.sqlite.text)", in: folder.store).joined(separator: "; ")
    }

    @Test("finds the objects by an index, rather than by looking at each")
    func searches() throws {
        try context.performAndWait {
            let tags = try context.all("Tag")
            let photo = try #require(try context.all("Photo").first)
            let predicates: [(NSPredicate, String)] = [
                (NSPredicate(format: "tags CONTAINS %@", tags[0]), "Photo"),
                (NSPredicate(format: "%@ IN tags", tags[0]), "Photo"),
                (NSPredicate(format: "ANY tags == %@", tags[0]), "Photo"),
                (NSPredicate(format: "ANY tags IN %@", Array(tags.prefix(3))), "Photo"),
                (NSPredicate(format: "ANY tags.name == 'red'"), "Photo"),
                (NSPredicate(format: "photos CONTAINS %@", photo), "Album"),
                (NSPredicate(format: "ANY photos.code == 'code 3'"), "Album"),
                (NSPredicate(format: "ANY photos.tags == %@", tags[0]), "Album"),
                (NSPredicate(format: "name != nil AND ANY tags == %@", tags[0]), "Photo"),
            ]
            for (predicate, entity) in predicates {
                let plan = try plan(predicate, of: entity)
                #expect(plan.contains("SEARCH t0") && !plan.contains("CORRELATED"), "\(predicate): \(plan)")
            }
        }
    }

    @Test("is asked of the objects where it selects few, or an index finds these")
    func asks() throws {
        try context.performAndWait {
            let (tag, album) = (
                try #require(try context.all("Tag").first), try #require(try context.all("Album").first)
            )
            let predicates: [(NSPredicate, String)] = [
                (NSPredicate(format: "ANY photos.hidden == YES"), "Album"),
                (NSPredicate(format: "ANY photos.name == 'photo 3'"), "Album"),
                (NSPredicate(format: "ANY tags.name != 'red'"), "Photo"),
                (NSPredicate(format: "album == %@ AND ANY tags == %@", album, tag), "Photo"),
                (NSPredicate(format: "code == 'code 3' AND ANY tags.name == 'red'"), "Photo"),
            ]
            for (predicate, entity) in predicates {
                let plan = try plan(predicate, of: entity)
                #expect(plan.contains("CORRELATED SCALAR SUBQUERY"), "\(predicate): \(plan)")
            }
        }
    }

    @Test("holds for the same objects in SQL and in memory, also where it is negated or a reference is nil")
    func agreement() throws {
        try context.performAndWait {
            let (tags, photos) = (try context.all("Tag"), try context.all("Photo"))
            let ofPhotos = [
                NSPredicate(format: "tags CONTAINS %@", tags[0]),
                NSPredicate(format: "ANY tags IN %@", [tags[1], tags[4]]),
                NSPredicate(format: "ANY tags.name IN {'red', 'blue'}"),
                NSPredicate(format: "ANY tags.name ==[cd] 'RED'"),
                NSPredicate(format: "ANY tags.name IN[c] {'RED', 'x'}"),
                NSPredicate(format: "ANY album.photos == %@", photos[1]),
                NSPredicate(format: "album.photos CONTAINS %@", photos[2]),
                NSPredicate(format: "ANY album.photos.code == 'code 1'"),
                NSPredicate(format: "code > 'code 1' AND ANY tags.name CONTAINS 'e'"),
                NSPredicate(format: "code BEGINSWITH 'code' AND ANY tags.name ==[cd] 'RED'"),
                NSPredicate(format: "NONE tags.name == 'red'"), NSPredicate(format: "ALL tags.name == 'red'"),
            ]
            let ofAlbums = [
                NSPredicate(format: "photos CONTAINS %@", photos[4]),
                NSPredicate(format: "photos CONTAINS %@", photos[5]),
                NSPredicate(format: "ANY photos.code == 'code 3'"),
                NSPredicate(format: "ANY photos.code IN {'code 3', 'x'}"),
                NSPredicate(format: "ANY photos.tags.name == 'blue'"),
                NSPredicate(format: "ANY photos IN %@", Array(photos)),
            ]
            for (entity, predicates) in [("Photo", ofPhotos), ("Album", ofAlbums)] {
                let all = try context.all(entity)
                for predicate in predicates {
                    for predicate in [predicate, NSCompoundPredicate(notPredicateWithSubpredicate: predicate)] {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = predicate
                        #expect(
                            Set(try context.fetch(request)) == Set(all.filter { predicate.evaluate(with: $0) }),
                            "\(predicate)")
                    }
                }
            }
        }
    }

    @Test("folds each text of a list once, and finds what memory finds")
    func texts() throws {
        let schema = SQLSchema(layout: try model.compiledLayout())
        let predicate = NSPredicate(format: "name IN[cd] %@", ["RED", "blüe", "x"])
        let prepared = try preparedPredicate(of: predicate)
        let tag = try #require(schema.layout.entityByName["Tag"])
        let text = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: tag), result: .count, predicate: prepared.skeleton, arguments: prepared.arguments
        ).sql.sqlite.text
        #expect(text.hasSuffix("WHERE PippinFolded(t0.ZNAME, 3) IN (?, ?, ?)"))
        try context.performAndWait {
            let all = try context.all("Tag")
            for predicate in [predicate, NSPredicate(format: "NOT name IN[cd] %@", ["RED", "blüe"])] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                request.predicate = predicate
                #expect(
                    Set(try context.fetch(request)) == Set(all.filter { predicate.evaluate(with: $0) }), "\(predicate)")
            }
        }
    }
}
