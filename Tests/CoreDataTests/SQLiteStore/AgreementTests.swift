@testable import CoreData
import Foundation
import PredicateFormat
import TestSupport
import Testing
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// A few people with every kind of value, and none, in a store.
private struct Population {
    let folder: TestFolder
    let container: NSPersistentContainer

    init() throws {
        folder = try TestFolder()
        let model = makeModel(
            makeEntity(
                "Person", makeAttribute("name", .stringAttributeType), makeAttribute("nick", .stringAttributeType),
                makeAttribute("age", .integer16AttributeType), makeAttribute("score", .doubleAttributeType),
                makeAttribute("born", .dateAttributeType), makeAttribute("isMember", .booleanAttributeType),
                makeAttribute("token", .UUIDAttributeType), makeAttribute("wealth", .decimalAttributeType),
                makeAttribute("link", .URIAttributeType),
                makeToOne("boss", "Person", inverse: "staff"), makeToMany("staff", "Person", inverse: "boss"),
                makeToMany("clubs", "Club", inverse: "members")),
            makeEntity(
                "Club", makeAttribute("title", .stringAttributeType), makeToMany("members", "Person", inverse: "clubs"))
        )
        container = NSPersistentContainer(name: "Population", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.store)]
        nonisolated(unsafe) var failure: (any Error)?  // written before loadPersistentStores returns
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        try fill(container.viewContext)
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        let names: [String?] = ["Anna", "anna", "Änne", "Bob", "", nil, "Ännchen", "a%b", "zoë", "ZOË", "x\u{10FFFF}y"]
        let clubs = ["Chess", "chess", nil].map { title -> NSManagedObject in
            let club = NSEntityDescription.insertNewObject(forEntityName: "Club", into: context)
            club.setValue(title, forKey: "title")
            return club
        }
        var people: [NSManagedObject] = []
        for (index, name) in names.enumerated() {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            person.setValue(index % 3 == 0 ? nil : names[(index + 1) % names.count], forKey: "nick")
            person.setValue(index % 4 == 1 ? nil : index * 7 % 40, forKey: "age")
            person.setValue(index % 5 == 2 ? nil : Double(index) / 4, forKey: "score")
            person.setValue(
                index % 2 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(index) * 100), forKey: "born")
            person.setValue(index % 3 == 2 ? nil : index % 2 == 0, forKey: "isMember")
            person.setValue(index % 2 == 0 ? UUID() : nil, forKey: "token")
            person.setValue(index % 3 == 1 ? nil : Decimal(index) / 2, forKey: "wealth")
            if index % 3 != 0 { person.setValue(URL(string: "https://swift.org/\(index)"), forKey: "link") }
            if index > 2 { person.setValue(people[index / 3], forKey: "boss") }
            if index % 2 == 0 { person.mutableSetValue(forKey: "clubs").add(clubs[index % 3]) }
            if index % 4 == 0 { person.mutableSetValue(forKey: "clubs").add(clubs[0]) }
            people.append(person)
        }
        try context.save()
    }
}

@Suite("Memory and SQL find the same")
struct AgreementTests {
    private static let comparisons = [
        "age == 7", "age != 7", "age < 20", "age >= 20", "age == nil", "age != nil", "NOT age == 7", "NOT age < 20",
        "NOT (age < 20 OR score > 1)", "age BETWEEN {5, 25}", "NOT age BETWEEN {5, 25}", "age IN {7, 14, 21}",
        "NOT age IN {7, 14, 21}", "age IN {}", "age + 1 == 8", "score * 2 > age", "age > score", "isMember == YES",
        "isMember != YES", "wealth == 2.5", "wealth > 1", "born == nil OR age == nil", "age == 7.0", "score == 1",
        "TERNARY(age > 20, 1, 2) == 1", "abs(age) > 20", "score / 2 >= 0.5", "isMember == age", "age & 1 == 1",
        "wealth * 2 > CAST('1', 'NSDecimalNumber')", "wealth / 2 == 0.5", "age * wealth / 4 == 1.75",
        "7 / wealth > 2.5",
        "wealth / 2 / 2 == 0.25", "-wealth < CAST('-1', 'NSDecimalNumber')", "wealth == CAST('2.5', 'NSDecimalNumber')",
        "wealth IN {CAST('1', 'NSDecimalNumber'), 2.5}", "noindex(wealth) == CAST('2.5', 'NSDecimalNumber')",
        "born + 100 > CAST(500, 'NSDate')", "born - 100 < CAST(500, 'NSDate')", "100 + born > CAST(500, 'NSDate')",
        "born - boss.born > 100", "boss.born - born == -200", "5 IN {age, score}", "age IN {boss.age, 7}",
        "NOT age IN {boss.age, 7}",
    ]
    private static let strings = [
        "name == 'Anna'", "name ==[c] 'ANNA'", "name ==[cd] 'anne'", "name != 'Anna'", "name !=[c] 'anna'",
        "name BEGINSWITH 'A'", "name BEGINSWITH ''", "name BEGINSWITH 'Ä'", "name BEGINSWITH[cd] 'an'",
        "NOT name BEGINSWITH 'A'", "name ENDSWITH 'na'", "name ENDSWITH[c] 'Ë'", "name CONTAINS 'nn'",
        "name CONTAINS ''",
        "name CONTAINS[cd] 'NC'", "name LIKE '?nna'", "name LIKE[c] 'a*'", "name MATCHES '.*n+.*'", "name < 'B'",
        "name >[c] 'b'", "name IN {'Anna', 'Bob'}", "name IN[c] {'ANNA', 'BOB'}", "name == nick", "name != nick",
        "name == ''", "name == 'a%b'", "lowercase(name) == 'anna'", "uppercase(name) == 'BOB'", "length(name) > 3",
        "'Annabel' CONTAINS name", "name IN 'Bobby'", "name BETWEEN {'A', 'C'}", "canonical(name) == 'zoe'",
        "name BEGINSWITH 'x\u{10FFFF}'", "'ANNA' IN[c] {name, nick}", "NOT 'ANNA' IN[c] {name, nick}", "'b' <[c] name",
        "name IN {nick, boss.name}", "name IN[c] {nick, boss.name}", "NOT name IN {nick, 'Bob'}", "'ANNA' ==[c] name",
        "'b' BETWEEN[c] {name, nick}", "name IN[c] {'BOB', nick, nil}", "name.length == 3",
    ]
    private static let links = [
        "link == 'https://swift.org/1'", "link != 'https://swift.org/1'", "'https://swift.org/1' == link",
        "link ==[c] 'HTTPS://swift.org/1'", "link CONTAINS 'swift'", "link CONTAINS[c] 'SWIFT'", "'org' IN link",
        "link IN {'https://swift.org/1', 'x'}", "link IN[c] {'HTTPS://SWIFT.ORG/1'}", "link LIKE '*/1*'",
        "link MATCHES '.*/[0-4]'", "link BEGINSWITH 'https'", "link ENDSWITH '/1'", "link > 'https://swift.org/4'",
        "link BETWEEN {'https://swift.org/2', 'https://swift.org/5'}", "link == CAST('https://swift.org/1', 'NSURL')",
        "link IN {CAST('https://swift.org/1', 'NSURL')}", "length(link) == 19", "uppercase(link) ENDSWITH 'ORG/1'",
        "link == boss.link", "ANY staff.link == 'https://swift.org/4'", "'https://swift.org/4' IN staff.link",
        "name IN link", "link >[c] 'HTTPS://SWIFT.ORG/4'",
    ]
    private static let relationships = [
        "boss == nil", "boss != nil", "boss.name == 'Anna'", "boss.boss.name == nil", "boss.age > 5",
        "NOT boss.name == 'Anna'", "boss.boss == nil", "ANY staff.age > 20", "ALL staff.age > 20",
        "NONE staff.age > 20",
        "ANY staff.name == nil", "staff.@count > 1", "staff.@count == 0", "staff.@max.age > 20", "staff.@sum.age > 10",
        "staff.@avg.score < 2", "staff.@min.age < 10", "ANY clubs.title == 'Chess'", "ANY clubs.title ==[c] 'CHESS'",
        "NONE clubs.title == 'Chess'", "ANY clubs.members.age > 30", "clubs.@count == 2",
        "SUBQUERY(staff, $s, $s.age > 10 AND $s.name != nil).@count > 0", "boss == boss.boss", "SELF == boss",
        "SUBQUERY(staff, $s, ANY $s.clubs.title == 'Chess').@count >= 1", "ANY staff.boss.name == 'Anna'",
        "SELF IN staff", "staff CONTAINS SELF", "boss IN staff", "boss.boss IN staff", "boss IN boss.staff",
        "SELF IN boss.staff", "name IN staff.name", "NOT name IN staff.name", "staff.name CONTAINS nick",
        "nil IN staff.name", "ANY staff.name IN boss.staff.nick", "name.length == nil",
        "clubs.title CONTAINS[c] 'CHESS'", "'CHESS' IN[c] clubs.title", "nick IN[c] clubs.members.name",
        "SUBQUERY(staff, $s, $s IN staff).@count > 0", "SUBQUERY(staff, $s, SELF IN $s.staff).@count > 0",
        "SUBQUERY(staff, $s, $s.clubs == nil).@count > 0",
        "SUBQUERY(staff, $s, 'CHESS' IN[c] $s.clubs.title).@count > 0",
        "staff.@sum.wealth > CAST('1', 'NSDecimalNumber')", "staff.@max.wealth > CAST('1', 'NSDecimalNumber')",
        "staff.@sum.wealth < CAST('4', 'NSDecimalNumber')", "staff.@max.age == nil", "staff.@max.age != nil",
        "staff.name.@count == 1", "count:(staff.name) == 1", "staff.name.@count == 2", "clubs.title.@count == 0",
        "staff.name == nil", "staff.boss.name != nil",
        "SUBQUERY(staff, $s, $s.staff.name.@count == 1).@count > 0", "staff.name[SIZE] == 1",
    ]

    @Test("Comparisons, texts and relationships agree, with nil among the values")
    func predicates() throws {
        let population = try Population()
        let context = population.container.viewContext
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        for format in Self.comparisons + Self.strings + Self.links + Self.relationships {
            let predicate = NSPredicate(format: format)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate
            var found: Set<NSManagedObjectID> = []
            do { found = Set(try context.fetch(request).map(\.objectID)) } catch {
                Issue.record("\(format): \(error.localizedDescription)")
                continue
            }
            let expected = Set(all.filter { predicate.evaluate(with: $0) }.map(\.objectID))
            #expect(found == expected, "\(format)")
        }
    }

    @Test("The count is the number of what is found")
    func counts() throws {
        let population = try Population()
        let context = population.container.viewContext
        for format in Self.relationships {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: format)
            #expect(try context.count(for: request) == context.fetch(request).count, "\(format)")
        }
    }

    @Test("Objects as arguments agree: equal, unequal, in a list, in a relationship")
    func objects() throws {
        let population = try Population()
        let context = population.container.viewContext
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        let boss = try #require(all.first { ($0.value(forKey: "staff") as? NSSet)?.count ?? 0 > 1 })
        let someone = try #require((boss.value(forKey: "staff") as? Set<NSManagedObject>)?.first)
        let club = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Club")).first)
        let predicates = [
            NSPredicate(format: "boss == %@", boss), NSPredicate(format: "boss != %@", boss),
            NSPredicate(format: "boss IN %@", [boss, someone]), NSPredicate(format: "SELF IN %@", [boss, someone]),
            NSPredicate(format: "NOT SELF IN %@", [boss]), NSPredicate(format: "%@ IN staff", someone),
            NSPredicate(format: "staff CONTAINS %@", someone), NSPredicate(format: "ANY clubs == %@", club),
            NSPredicate(format: "ANY staff CONTAINS %@", someone), NSPredicate(format: "ANY clubs CONTAINS %@", club),
            NSPredicate(format: "boss == %@", club), NSPredicate(format: "SELF == %@", boss.objectID),
        ]
        for predicate in predicates {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate
            let found = Set(try context.fetch(request).map(\.objectID))
            #expect(found == Set(all.filter { predicate.evaluate(with: $0) }.map(\.objectID)), "\(predicate)")
        }
    }

    @Test("Both sort nil first, and texts by their bytes, without case, or as a file browser does")
    func sorting() throws {
        let population = try Population()
        let context = population.container.viewContext
        let descriptors = [
            NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "name", ascending: false),
            NSSortDescriptor(key: "boss.name", ascending: true), NSSortDescriptor(key: "age", ascending: false),
        ]
        for descriptor in descriptors {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [descriptor, NSSortDescriptor(key: "score", ascending: true)]
            let keys = try context.fetch(request).map { "\($0.value(forKeyPath: descriptor.key ?? "") ?? "nil")" }
            let values = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0 as Any }
            let sorted = (values as NSArray).sortedArray(using: [descriptor]).compactMap { $0 as? NSManagedObject }
            #expect(keys == sorted.map { "\($0.value(forKeyPath: descriptor.key ?? "") ?? "nil")" }, "\(descriptor)")
        }
    }
}
