import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import CoreDataModel

@Suite("Archives of plain values are those of Foundation's archivers")
struct PlainArchivesTests {
    /// The same object everywhere: two are equal and have different hashes in Foundation on Linux, whose archiver keeps
    /// its objects in a dictionary and stops the program when it happens to compare the two.
    private static let null = NSNull()

    /// A value of the kinds that property lists have, and their like.
    private func value(_ depth: Int, _ random: inout SplitMix) -> NSObject {
        func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }
        let text = "text \(number(5)) 🍏"
        switch number(depth > 0 ? 13 : 10) {
        case 0: return text as NSString
        case 1: return NSNumber(value: Int64.random(in: .min...(.max), using: &random))
        case 2: return NSNumber(value: Double.random(in: -1e9...1e9, using: &random))
        case 3: return NSNumber(value: Bool.random(using: &random))
        case 4: return NSNumber(value: UInt64.max - UInt64(number(9)))
        case 5: return Data((0..<number(20)).map { UInt8($0) }) as NSData
        case 6: return Date(timeIntervalSinceReferenceDate: Double(number(1_000_000)) / 7) as NSDate
        case 7: return NSUUID()
        case 8: return URL(string: "https://example.com/\(number(9))").map { $0 as NSURL } ?? Self.null
        case 9: return Self.null
        case 10: return NSArray(array: (0..<number(4)).map { _ in value(depth - 1, &random) })
        case 11:
            // Foundation's sets do not find an NSNull again that is another object.
            let elements = (0..<number(4)).map { _ in value(0, &random) }
            return NSSet(array: elements.filter { !($0 is NSNull) })
        default:
            let keys = (0..<number(4)).map { "key \($0)" }
            return NSDictionary(
                objects: keys.map { _ in value(depth - 1, &random) }, forKeys: keys.map { $0 as NSString })
        }
    }

    private func read(_ data: Data) throws -> NSObject? {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSObject
    }

    @Test("Foundation reads what is written here, and the other way round, as objects of the same class")
    func bothWays() throws {
        var random = SplitMix(state: 7)
        for _ in 0..<2000 {
            let value = value(3, &random)
            let written = try #require(PlainArchives.archive(of: value))
            #expect(try read(written) == value)
            let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
            let found = PlainArchives.object(in: try KeyedArchive(data: data)) as? NSObject
            #expect(found == value)
            let foundation = try read(data)
            #expect(found.map { NSStringFromClass(type(of: $0)) } == foundation.map { NSStringFromClass(type(of: $0)) })
        }
    }

    @Test("Values that are anything else, or hold anything else, are left to Foundation")
    func others() throws {
        let others: [NSObject] = [
            NSMutableArray(array: ["a"]), NSMutableDictionary(), NSMutableSet(), NSOrderedSet(array: [1]),
            Envelope("a"), NSArray(array: [Envelope("a")]), NSAttributedString(string: "a"),
        ]
        for other in others {
            #expect(PlainArchives.archive(of: other) == nil)
            let data = try NSKeyedArchiver.archivedData(withRootObject: other, requiringSecureCoding: false)
            #expect(PlainArchives.object(in: try KeyedArchive(data: data)) == nil, "\(other)")
        }
    }

    @Test("A transformer that allows fewer classes refuses the others, also among plain values")
    func fewerClasses() throws {
        let data = try SecureUnarchiving.archive(of: [Date(timeIntervalSinceReferenceDate: 0)])
        #expect(throws: (any Error).self) {
            try SecureUnarchiving.object(in: data, allowed: UnarchivedClasses([NSArray.self, NSString.self]))
        }
        #expect(try SecureUnarchiving.object(in: data, allowed: .onlyBasic) as? [Date] != nil)
    }
}
