import CoreData
import Testing

@Suite("Our own version hashes")
struct VersionHashTests {
    private static let source = """
        <entity name="A" representedClassName="A" syncable="YES">
            <attribute name="x" optional="YES" attributeType="String" defaultValueString="d"/>
            <relationship name="r" optional="YES" maxCount="1" destinationEntity="A" inverseName="s"/>
            <relationship name="s" optional="YES" toMany="YES" destinationEntity="A" inverseName="r"/>
        </entity>
        <entity name="B" parentEntity="A"/>
        """

    private func hashes(_ source: String) throws -> [String: Data] {
        try ModelAssembler.model(SourceReaderTests.read(source)).entityVersionHashesByName
    }

    @Test("Equal models have equal hashes of 32 bytes, from whatever order of properties")
    func equal() throws {
        let first = try hashes(Self.source)
        #expect(first["A"]?.count == 32)
        #expect(try hashes(Self.source) == first)
        let lines = Self.source.split(separator: "\n").map(String.init)
        let reordered = ([lines[0], lines[3], lines[2], lines[1]] + lines[4...]).joined(separator: "\n")
        #expect(try hashes(reordered) == first)
    }

    @Test(
        "What a store must agree on changes the hash, of subentities too",
        arguments: [
            (#"name="x" optional="YES""#, #"name="x""#),
            (#"attributeType="String" defaultValueString="d""#, #"attributeType="Binary""#),
            (#"name="x" "#, #"name="y" "#), (#"name="x" "#, #"name="x" transient="YES" "#),
            (#"name="x" "#, #"name="x" versionHashModifier="2" "#),
            (#"name="x" "#, #"name="x" allowsExternalBinaryDataStorage="YES" "#),
            (#"name="x" "#, #"name="x" derived="YES" derivationExpression="s.@count" "#),
            (#"toMany="YES" "#, #"toMany="YES" ordered="YES" "#),
            (#"toMany="YES" "#, #"toMany="YES" maxCount="3" "#),
            (#"<entity name="A" "#, #"<entity name="A" isAbstract="YES" "#),
            (#"<entity name="A" "#, #"<entity name="A" versionHashModifier="2" "#),
        ])
    func covered(old: String, new: String) throws {
        let changed = Self.source.replacingOccurrences(of: old, with: new)
        #expect(changed != Self.source)
        let (before, after) = (try hashes(Self.source), try hashes(changed))
        #expect(before["A"] != after["A"])
        #expect(before["B"] != after["B"])
    }

    @Test(
        "Class, transformer, defaults, validation, user info, indexes, delete rules and transient properties do not",
        arguments: [
            (#"representedClassName="A""#, #"representedClassName="Other""#),
            (#" defaultValueString="d""#, ""),
            (#"attributeType="String" "#, #"attributeType="String" valueTransformerName="T" "#),
            (#"toMany="YES" "#, #"toMany="YES" deletionRule="Cascade" "#),
            (#"</entity>"#, #"<attribute name="t" transient="YES" attributeType="String"/></entity>"#),
            (
                #"defaultValueString="d"/>"#,
                #"defaultValueString="d"><userInfo><entry key="k" value="v"/></userInfo></attribute>"#
            ),
            (#"</entity>"#, #"<fetchIndex name="i"><fetchIndexElement property="x"/></fetchIndex></entity>"#),
        ])
    func notCovered(old: String, new: String) throws {
        let changed = Self.source.replacingOccurrences(of: old, with: new)
        #expect(changed != Self.source)
        #expect(try hashes(changed) == hashes(Self.source))
    }

    @Test("What a derived attribute is computed of is a part of it")
    func derivation() throws {
        func hash(_ expression: String) throws -> [String: Data] {
            try hashes(
                Self.source.replacingOccurrences(
                    of: #"</entity>\#n<entity name="B""#,
                    with:
                        #"<attribute name="d" attributeType="String" derived="YES" derivationExpression="\#(expression)"/>"#
                        + #"</entity><entity name="B""#))
        }
        #expect(try hash("lowercase:(x)") == hash("lowercase:( x )"))
        #expect(try hash("lowercase:(x)")["A"] != hash("uppercase:(x)")["A"])
    }

    @Test(
        "Two ways to write a number of objects have one hash: Apple's compiler makes the second of the first (SwiftGen)"
    )
    func derivedCount() throws {
        let models = try ["parts.@count", "count:(parts)"].map { expression in
            try SourceReaderTests.read(
                """
                <entity name="A">
                <attribute name="n" attributeType="Integer 64" derived="YES" derivationExpression="\(expression)"/>
                <relationship name="parts" optional="YES" toMany="YES" destinationEntity="A"/>
                </entity>
                """)
        }
        #expect(VersionHash.hashes(of: models[0]) == VersionHash.hashes(of: models[1]))
        let descriptions = try models.map { try ModelAssembler.model($0).entityVersionHashesByName }
        #expect(descriptions == models.map(VersionHash.hashes))
    }

    @Test("The hash of this model is the one it has always been, since stores remember it")
    func stable() throws {
        let hash = try hashes("<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/></entity>")["A"]
        #expect(
            hash?.map { String(format: "%02x", $0) }.joined()
                == "a4eb371974245c09c8259baf57f4c7e258fe9164d1f6921e658ceab1e4b451b1")
    }
}
