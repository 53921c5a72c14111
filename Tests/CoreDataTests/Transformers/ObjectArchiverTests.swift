import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

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

    @Test("Several NSNull, for which Foundation's archiver may stop the program, come back")
    func severalNulls() throws {
        let nulls = (0..<300).map { _ in NSNull() }
        let array = NSMutableArray(array: nulls)
        let dictionary = NSMutableDictionary(objects: nulls, forKeys: nulls.indices.map { "\($0)" as NSString })
        for value: NSObject in [array, dictionary, NSOrderedSet(array: [array]), NSArray(array: [dictionary])] {
            let read = try object(in: SecureUnarchiving.archive(of: value))
            #expect(read == value)
            #expect((read is NSMutableArray) == (value is NSMutableArray))
            #expect((read is NSMutableDictionary) == (value is NSMutableDictionary))
        }
        let envelope = try object(in: SecureUnarchiving.archive(of: Envelope(array))) as? Envelope
        #expect(envelope?.content as? NSArray == array)
    }

    @Test("Several NSNull beside what only Foundation archives are an error that says what to do")
    func severalNullsInFoundation() throws {
        let text = NSAttributedString(
            string: "x", attributes: [NSAttributedString.Key("k"): [NSNull(), NSNull()] as NSArray])
        let error = #expect(throws: SecureUnarchiving.Failure.self) { try SecureUnarchiving.archive(of: text) }
        #expect(error?.reason.contains("one and the same NSNull") == true)
        let null = NSNull()
        let fine = NSAttributedString(
            string: "x", attributes: [NSAttributedString.Key("k"): [null, null] as NSArray])
        #expect(try object(in: SecureUnarchiving.archive(of: fine)) == fine)
    }

    private func object(in data: Data) throws -> NSObject? {
        try SecureUnarchiving.object(in: data, allowed: .all) as? NSObject
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
