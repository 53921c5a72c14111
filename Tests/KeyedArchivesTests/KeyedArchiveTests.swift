import Foundation
import ModelFiles
import Testing

@Suite("Keyed archives")
struct KeyedArchiveTests {
    @Test("What is built reads back: strings once, circles closed, numbers in place")
    func roundTrip() throws {
        var builder = KeyedArchiveBuilder()
        let parent = builder.reserve()
        let name = builder.string("apple")
        let child = builder.add(
            classNames: ["Child", "NSObject"], fields: ["name": name, "parent": parent, "count": .integer(3)])
        let children = builder.array([child])
        let sameName = builder.string("apple")
        builder.fill(parent, classNames: ["Parent", "NSObject"], fields: ["name": sameName, "children": children])
        #expect(name == sameName)

        let archive = try KeyedArchive(data: builder.archive(root: parent).data())
        let root = try archive.root()
        #expect(root.className == "Parent")
        #expect(try root.string(forKey: "name") == "apple")
        let read = try #require(try root.optionalObjects(forKey: "children")?.first)
        #expect(try read.integer(forKey: "count") == 3)
        #expect(try read.object(forKey: "parent").index == root.index)
        #expect(read.isKind(of: "NSObject"))
    }

    @Test("Foundation's values survive: numbers, decimals, dates, UUIDs, URLs, collections")
    func foundationValues() throws {
        let uuid = UUID()
        let url = try #require(URL(string: "https://pippin.example/a?b=c"))
        let date = Date(timeIntervalSinceReferenceDate: 12.25)
        let values: [Any] = [
            NSNumber(value: 42), NSNumber(value: true), NSNumber(value: 2.5),
            NSDecimalNumber(string: "-1234567890.0987654321"),
            NSDecimalNumber.zero, "text", Data([1, 2]), date, uuid, url, NSNull(), ["x", "y"] as [Any],
        ]
        var builder = KeyedArchiveBuilder()
        let root = try builder.foundationValue(values)
        let archive = try KeyedArchive(data: builder.archive(root: root).data())
        let read = try #require(try ArchivedValue.object(archive.root()).foundationValue() as? [Any])
        #expect(read.count == values.count)
        #expect(read[0] as? Int == 42)
        #expect(read[1] as? Bool == true)
        #expect(read[2] as? Double == 2.5)
        #expect((read[3] as? NSDecimalNumber)?.stringValue == "-1234567890.0987654321")
        #expect((read[4] as? NSDecimalNumber)?.stringValue == "0")
        #expect(read[5] as? String == "text")
        #expect(read[6] as? Data == Data([1, 2]))
        #expect(read[7] as? Date == date)
        #expect(read[8] as? UUID == uuid)
        #expect(read[9] as? URL == url)
        #expect(read[10] is NSNull)
        #expect(read[11] as? [String] == ["x", "y"])
    }

    @Test("A set of collections, and a dictionary with collections as keys, have no value: all have one hash")
    func collectionsOfOneHash() throws {
        func value(_ make: (inout KeyedArchiveBuilder, [PropertyList]) -> PropertyList) throws -> Any? {
            var builder = KeyedArchiveBuilder()
            var arrays: [PropertyList] = []
            for number in 0..<3 { arrays.append(try builder.foundationValue([number])) }
            let root = make(&builder, arrays)
            return try ArchivedValue.object(builder.archive(root: root).root()).foundationValue()
        }
        #expect(try value { $0.set($1) } == nil)
        #expect(
            try value { $0.add(classNames: ["NSOrderedSet", "NSObject"], fields: ["NS.objects": .array($1)]) } == nil)
        #expect(try value { builder, arrays in builder.dictionary(arrays.map { (key: $0, value: $0) }) } == nil)
        #expect(try (value { $0.array($1) } as? [[Int]]) == [[0], [1], [2]])
        let words = try value { builder, arrays in
            builder.dictionary([(key: builder.string("a"), value: arrays[0])])
        }
        #expect(words as? [String: [Int]] == ["a": [0]])
    }

    @Test("A set or dictionary of many data that begin alike has no value: each would be compared with all others")
    func dataOfOneHash() throws {
        func value(count: Int, head: Int, isDictionary: Bool) throws -> Any? {
            var builder = KeyedArchiveBuilder()
            let data = (0..<count).map { number -> PropertyList in
                let tail = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
                return builder.scalar(.data(Data(repeating: 7, count: head) + withUnsafeBytes(of: tail) { Data($0) }))
            }
            let root = isDictionary ? builder.dictionary(data.map { (key: $0, value: $0) }) : builder.set(data)
            return try ArchivedValue.object(builder.archive(root: root).root()).foundationValue()
        }
        let start = ContinuousClock.now
        #expect(try value(count: 20_000, head: 80, isDictionary: false) == nil)
        #expect(try value(count: 20_000, head: 80, isDictionary: true) == nil)
        #expect(try (value(count: 20_000, head: 8, isDictionary: false) as? NSSet)?.count == 20_000)
        #expect(try (value(count: 20_000, head: 8, isDictionary: true) as? [AnyHashable: Any])?.count == 20_000)
        #expect(try (value(count: 100, head: 80, isDictionary: false) as? NSSet)?.count == 100)
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test("Foundation's own archiver writes what is read")
    func foundationArchiver() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = .binary
        let uuid = UUID()
        archiver.encode(["id": uuid as NSUUID, "n": NSNumber(value: 5)] as NSDictionary, forKey: "root")
        archiver.finishEncoding()
        let archive = try KeyedArchive(data: archiver.encodedData)
        let values = try ArchivedValue.object(archive.root()).foundationValue() as? [String: Any]
        #expect(values?["id"] as? UUID == uuid)
        #expect(values?["n"] as? Int == 5)
    }
}

@Suite("Damaged keyed archives")
struct DamagedKeyedArchiveTests {
    private func archive(_ object: [String: PropertyList]) throws -> ArchivedObject {
        var builder = KeyedArchiveBuilder()
        let root = builder.add(classNames: ["Thing", "NSObject"], fields: object)
        return try builder.archive(root: root).root()
    }

    @Test("A field of the wrong kind is an error that names object, class, key, expected and found")
    func wrongKind() throws {
        let object = try archive(["age": .real(1)])
        let error = #expect(throws: KeyedArchiveError.self) { try object.integer(forKey: "age") }
        let message = error?.description
        #expect(
            message
                == "The keyed archive is damaged at object 1 (Thing), key “age”: an integer expected, a real number found."
        )
    }

    @Test("A missing field is an error where it is required, and nil or its default where it is not")
    func missing() throws {
        let object = try archive([:])
        #expect(throws: KeyedArchiveError.self) { try object.string(forKey: "name") }
        #expect(try object.optionalString(forKey: "name") == nil)
        #expect(try object.boolean(forKey: "flag") == false)
        #expect(try object.integer(forKey: "count", default: 9) == 9)
    }

    @Test("A reference beyond the objects is an error")
    func danglingReference() throws {
        let object = try archive(["name": .uid(99)])
        let error = #expect(throws: KeyedArchiveError.self) { try object.string(forKey: "name") }
        #expect(error?.key == "name")
        #expect(error?.reason == "a reference below 3 expected, 99 found")
    }

    @Test("Collections that hold themselves end in an error, not in a stack overflow")
    func circle() throws {
        var builder = KeyedArchiveBuilder()
        let array = builder.reserve()
        builder.fill(array, classNames: ["NSArray", "NSObject"], fields: ["NS.objects": .array([array])])
        let root = try builder.archive(root: array).root()
        #expect(throws: KeyedArchiveError.self) { try ArchivedValue.object(root).foundationValue() }
    }

    @Test("A class of more than 64 ancestors is an error, since each of its objects would have all their names")
    func ancestors() throws {
        for (count, isRead) in [(64, true), (65, false)] {
            var builder = KeyedArchiveBuilder()
            let root = builder.add(classNames: (0..<count).map { "C\($0)" }, fields: [:])
            let archive = try KeyedArchive(data: builder.archive(root: root).data())
            if isRead {
                #expect(try archive.root().classNames.count == 64)
            } else {
                let error = #expect(throws: KeyedArchiveError.self) { try archive.root() }
                #expect("\(try #require(error))".contains("at most 64 names"))
            }
        }
    }

    @Test("Fragments of an archive that share a large object count all that it holds")
    func sharedFragments() throws {
        var builder = KeyedArchiveBuilder()
        let text = builder.string("x")
        let large = builder.array(Array(repeating: text, count: 20_000))
        let owners = (0..<20).map { builder.add(classNames: ["Owner\($0)"], fields: ["large": large]) }
        let all = builder.array(owners)
        let archive = builder.archive(root: all)
        let objects = try #require(try archive.root().elements())
        #expect(throws: KeyedArchiveError.self) {
            for case .object(let object) in objects { _ = try KeyedArchiveFragment(object) }
        }
    }

    @Test("A decimal in a set, or as a key, makes no object of Foundation's, whose hash of it never ends")
    func decimalsInSets() throws {
        var builder = KeyedArchiveBuilder()
        let decimal = try builder.foundationValue(NSDecimalNumber(string: "1.5"))
        let elements = builder.set([decimal])
        let set = try builder.archive(root: elements).root()
        #expect(try ArchivedValue.object(set).foundationValue() == nil)
        #expect(try set.elements()?.count == 1)
    }

    @Test("Collections that double with every level end in an error, not in endless work")
    func exponentialGrowth() throws {
        var builder = KeyedArchiveBuilder()
        var array = builder.string("leaf")
        for _ in 0..<60 { array = builder.array([array, array]) }
        let root = try builder.archive(root: array).root()
        let error = #expect(throws: KeyedArchiveError.self) { try ArchivedValue.object(root).foundationValue() }
        #expect(error?.reason.hasPrefix("reading it takes more than") == true)
    }

    @Test(
        "Property lists that are not an archive are refused",
        arguments: [
            PropertyList.string("x"), .dictionary([:]), .dictionary(["$objects": .array([])]),
            .dictionary(["$objects": .array([.string("$null")]), "$top": .dictionary([:]), "$version": .integer(1)]),
        ])
    func noArchive(list: PropertyList) {
        #expect(throws: KeyedArchiveError.self) { try KeyedArchive(propertyList: list) }
    }
}
