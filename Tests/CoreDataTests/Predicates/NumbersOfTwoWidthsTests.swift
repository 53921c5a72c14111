import CoreData
import Foundation
import Testing

/// Databases compute with the types of columns, and memory with 64 bits.
@MainActor @Suite("Numbers of two widths")
struct NumbersOfTwoWidthsTests {
    private static var model: NSManagedObjectModel {
        let number = Library.entity(
            "Number",
            [
                Library.attribute("name", .stringAttributeType), Library.attribute("note", .stringAttributeType),
                Library.attribute("level", .integer16AttributeType),
                Library.attribute("flags", .integer32AttributeType),
                Library.attribute("whole", .integer64AttributeType), Library.attribute("score", .doubleAttributeType),
            ])
        let model = NSManagedObjectModel()
        model.entities = [number]
        return model
    }

    private func stores() throws -> ComparedStores {
        try ComparedStores(Self.model) { context in
            context.make(
                "Number",
                [
                    "name": "a", "level": 64, "flags": 1_073_741_824, "whole": 9_007_199_254_740_993,
                    "score": 9_007_199_254_740_992.0,
                ])
            context.make("Number", ["name": "b", "level": -1, "flags": 2, "whole": 5, "score": 5.0])
        }
    }

    @Test("are listed and bounded by value")
    func lists() throws {
        let stores = try stores()
        for format in [
            "whole IN {score}", "whole IN {score, flags}", "whole BETWEEN {score, score}", "score IN {whole}",
        ] {
            try stores.check("Number", format, finds: ["b"])
        }
        try stores.check("Number", "9007199254740993 IN {score, level}", finds: [])
        try stores.check("Number", "9007199254740993 BETWEEN {flags, score}", finds: [])
    }

    @Test("are shifted by as many bits as it says")
    func shifts() throws {
        let stores = try stores()
        try stores.check("Number", "1 << level == 0", finds: ["a", "b"])
        try stores.check("Number", "4 >> level == 8", finds: ["b"])
        try stores.check("Number", "flags << flags == 8", finds: ["b"])
        try stores.check("Number", "flags << (flags - flags + 2) == 4294967296", finds: ["a"])
    }

    @Test("do not change what is the last of conditional texts")
    func conditionalTexts() throws {
        let stores = try stores()
        for format in [
            "noindex(TERNARY(whole > 5, 'a', 'B')) < 'b'",
            "TERNARY(whole > 5, 'a', 'B') BETWEEN {'B', 'a'}", "'a' > 'B'", "'a' BETWEEN {'B', 'b'}",
        ] {
            try stores.check("Number", format, finds: ["a", "b"])
        }
    }
}
