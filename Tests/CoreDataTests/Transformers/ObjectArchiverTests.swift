import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteMigration

/// Programs that are linked statically write archives with `ObjectArchiver`; here it is asked by name.
@Suite("Archives without Foundation's archiver")
struct ObjectArchiverTests {
    @Test("Foundation's unarchiver reads collections of every kind of value")
    func collections() throws {
        let value = NSArray(array: [
            NSString(string: "a"), NSNumber(value: 2.5), NSData(data: Data([1])),
            NSURL(fileURLWithPath: "/tmp/a"),
            NSDate(timeIntervalSinceReferenceDate: 5), NSSet(array: [NSNumber(value: 7)]),
            NSDictionary(dictionary: ["key": NSArray(array: [NSString(string: "deep")])]),
        ])
        #expect(try unarchived(value) == value)
    }

    @Test("Objects that archive themselves come back, each once, however often they are referred to")
    func objects() throws {
        let first = Knot(name: "first")
        let second = Knot(name: "second")
        first.other = second
        let read = try #require(try unarchived(NSArray(array: [first, second])) as? NSArray)
        let found = try #require(read as? [Knot])
        #expect(found.map(\.name) == ["first", "second"])
        #expect(found[0].other === found[1] && found[1].other == nil)
    }

    private func unarchived(_ object: NSObject) throws -> NSObject? {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: ObjectArchiver.archive(of: object))
        unarchiver.requiresSecureCoding = false
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSObject
    }
}

/// An object that knows another one.
final class Knot: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    var other: Knot?

    init(name: String) { self.name = name }

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String ?? ""
        super.init()
        other = coder.decodeObject(forKey: "other") as? Knot
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(other, forKey: "other")
    }
}
