import Foundation
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Bytes that are texts, and stores that lack something, on the command line")
struct BlobTextTests {
    @Test(
        "JSON and property lists are shown as such, other bytes as bytes",
        arguments: [
            (Data(#"["sour","sweet"]"#.utf8), #"16 bytes: JSON ["sour","sweet"]"#),
            (Data("{\"a\":\n1}".utf8), #"8 bytes: JSON {"a": 1}"#), (Data("[1,".utf8), "3 bytes: text \"[1,\""),
            (Data("plain".utf8), "5 bytes: text \"plain\""), (Data([1, 2]), "2 bytes: 0102"),
            (Data(), "0 bytes"),
        ])
    func json(data: Data, text: String) { #expect(DumpText.text(of: .data(data)) == text) }

    @Test("A binary property list is shown with its members in order, and an archive with its objects")
    func propertyLists() throws {
        let list: [String: Any] = ["b": [1.5, 2.5], "a": "x"]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        #expect(DumpText.text(of: .data(data)).hasSuffix(#": property list {"a": "x", "b": [1.5, 2.5]}"#))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: "x" as NSString, requiringSecureCoding: true)
        #expect(BlobText.content(of: archive) == "keyed archive \"x\"")
    }

    @Test("A list that uses its parts very often is written only as far as it is shown", .timeLimit(.minutes(1)))
    func sharedParts() throws {
        let text = try #require(BlobText.content(of: Self.shared))
        #expect(text.hasPrefix("property list [[[[[1, 1, "), "\(text)")
        #expect(text.hasSuffix("…") && text.count < 450)
    }

    /// Five arrays, each with 24 references to the next, the last with 24 to a number: 24⁵ values in 190 bytes.
    private static let shared: Data = {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<5 as Range<UInt8> {
            offsets += [UInt8(bytes.count)]
            bytes += [0xAF, 0x10, 24] + Array(repeating: level + 1, count: 24)
        }
        offsets += [UInt8(bytes.count)]
        bytes += [0x10, 1]
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [6, 0, table] as [UInt8] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        return Data(bytes)
    }()

    @Test(
        "What a store lacks is listed by info and marked by dump; everything else is there",
        .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func missingColumn() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            try execute("ALTER TABLE ZCAR DROP COLUMN ZMAKER", in: copy)
            let info = CommandRun("info", copy.path)
            #expect(info.output.contains("no column ZCAR.ZMAKER, which “Car.maker” needs"))
            let dump = CommandRun("dump", copy.path, "--entity", "Car")
            #expect(dump.output.contains("? “Car.maker” cannot be read: the store has no column ZCAR.ZMAKER"))
            #expect(dump.output.contains("numberPlate"))
        }
    }

    @Test(
        "An entity without table does not keep the others from being dumped",
        .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func missingTable() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            try execute("DROP TABLE ZPERSON", in: copy)
            #expect(CommandRun("info", copy.path).output.contains("no table ZPERSON, which “Person” needs"))
            let dump = CommandRun("dump", copy.path)
            #expect(dump.output.contains("Person   ? Objects of “Person” cannot be"))
            #expect(dump.output.contains("Car   125 objects") || dump.output.contains("Car/p"))
            let json = CommandRun("dump", "--json", copy.path)
            #expect((try? JSONSerialization.jsonObject(with: Data(json.output.utf8))) != nil)
        }
    }
}
