import CoreData
import Foundation
import Testing

/// Apples and pears, two kinds of boxes, have properties of the same names.
@MainActor @Suite("A property that several subentities declare")
struct SiblingPropertyTests {
    @Test("is found in objects of each of them")
    func found() throws {
        let stores = try ComparedStores()
        try stores.check("Box", "code == 'x'", finds: ["a", "p"])
        try stores.check("Box", "code == nil", finds: ["q"])
        try stores.check("Box", "code BEGINSWITH 'x' AND code ==[c] 'X'", finds: ["a", "p"])
        try stores.check("Box", "cost == %@", [NSDecimalNumber(string: "0.07")], finds: ["p"])
        try stores.check("Box", "cost IN %@", [[NSDecimalNumber(string: "19.99")]], finds: ["a"])
        try stores.check("Shop", "ANY boxes.code == 'x'", finds: ["s1", "s2"])
        try stores.check("Shop", "SUBQUERY(boxes, $b, $b.code == 'x').@count == 1", finds: ["s1", "s2"])
        try stores.check("Shop", "boxes.@sum.cost > 0", finds: ["s1", "s2"])
    }

    @Test("leads on, if it is a relationship")
    func relationship() throws {
        let stores = try ComparedStores()
        try stores.check("Box", "maker.name == 'bob'", finds: ["p"])
        try stores.check("Box", "maker != nil", finds: ["a", "p"])
        try stores.check("Box", "maker.shop.name == 's1'", finds: ["a", "p"])
        try stores.check("Box", "maker.@count == 0", finds: ["q"])
    }

    @Test("is sorted and grouped by")
    func sorted() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            #expect(try context.all("Box", by: "cost").map { $0.string("name") } == ["q", "p", "a"], "\(type)")
            let request = NSFetchRequest<NSDictionary>(entityName: "Box")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["code"]
            request.propertiesToGroupBy = ["code"]
            #expect(try context.fetch(request).count == 2, "\(type)")
        }
    }

    @Test("is refused by SQL if it is of two types")
    func otherTypes() throws {
        let error = try ComparedStores().error("Box", "weight == 7")
        #expect(error.contains("Apples.weight"))
        #expect(error.contains("Pears.weight"))
    }
}
