import Foundation

/// Pippin's own version hashes, for models that carry none of Apple's. Apple's algorithm is not public.
///
/// A version hash covers what programs that share a store must agree on, as documented by Core Data and confirmed by
/// 450 versions of entities with Apple's hashes. For an entity: its name, its parent's version hash, whether it is
/// abstract, its version hash modifier, its uniqueness constraints and its stored properties, including inherited ones.
/// For a property: its name, whether it is optional or read-only, its modifier, and its kind: an attribute's type, and
/// whether the history preserves its values; a relationship's destination, inverse, counts and order. Pippin's hashes
/// also cover what the rows and triggers of a store depend on: whether an attribute's values may be stored externally,
/// which the column then says, and how a derived attribute is computed. Without a migration, such a store would be read
/// wrongly. Transient properties, delete rules, classes, value transformers, user info, defaults, validation, indexes
/// and fetched properties are not covered. The hash is SHA-256 over these facts as text.
package enum VersionHash {
    /// The metadata key, for a store with Apple's hashes that were read from a file, for Pippin's hashes of the store's
    /// copy of its model, by entity. Never written.
    package static let ownHashesOfStoreKey = "PippinModelHashes"

    /// The hash of a property.
    package static func hash(of property: VersionedProperty) -> Data {
        var text = CanonicalText()
        append(property, to: &text)
        return Data(SHA256.hash(text.bytes))
    }

    /// The hash of an entity.
    package static func hash(of entity: VersionedEntity) -> Data {
        var text = CanonicalText()
        text.append("entity", entity.name)
        text.append("parent", entity.parentName)
        if let hash = entity.parentHash { text.append("parentHash", hash.base64EncodedString()) }
        text.append("abstract", entity.isAbstract)
        text.append("modifier", entity.versionHashModifier)
        for property in entity.properties where property.isStored { append(property, to: &text) }
        for constraint in entity.uniquenessConstraints.map({ $0.sorted(by: <) }).sorted(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            text.append("unique", constraint.count)
            for name in constraint { text.append("attribute", name) }
        }
        return Data(SHA256.hash(text.bytes))
    }

    /// A digest over version hashes, in Base64: SHA-256 of the concatenated hashes, in the order of the entities'
    /// names. The checksums that Apple's tools put into `VersionInfo.plist` are made in the same way.
    package static func checksum(of hashes: [String: Data]) -> String {
        let bytes = hashes.sorted { $0.key < $1.key }.reduce(into: Data()) { $0 += $1.value }
        return Data(SHA256.hash([UInt8](bytes))).base64EncodedString()
    }

    /// The digest of version hashes in a store's metadata (`NSStoreModelVersionHashesDigest`), in Base64: SHA-512 of
    /// the entities' names, each with its hash after it, in the order of the names. So it is in all of Apple's stores
    /// that have one.
    package static func digest(of hashes: [String: Data]) -> String {
        let bytes = hashes.sorted { $0.key < $1.key }.reduce(into: [UInt8]()) { $0 += Array($1.key.utf8) + $1.value }
        return Data(SHA512.hash(bytes)).base64EncodedString()
    }

    private static func append(_ property: VersionedProperty, to text: inout CanonicalText) {
        switch property.kind {
        case .attribute(let attribute):
            text.append("attribute", property.name)
            text.append("type", attribute.type.rawValue)
            text.append("readOnly", attribute.isDerived)
            // Appended only if present, so that most hashes equal those of earlier builds.
            if let derivation = attribute.derivation { text.append("derivation", derivation) }
            if attribute.allowsExternalStorage { text.append("external", true) }
            if attribute.preservesValueOnDeletion { text.append("preserved", true) }
            for element in attribute.elements {
                text.append("element of", property.name)
                append(element, to: &text)
            }
        case .relationship(let relationship):
            text.append("relationship", property.name)
            text.append("destination", relationship.destinationName)
            text.append("inverse", relationship.inverseName)
            text.append("minimum", relationship.minCount)
            // A number below 1 means no bound.
            text.append("maximum", max(relationship.maxCount, 0))
            // Not part of the hash; the constant keeps its place in the text, so that most hashes equal those of
            // earlier builds.
            text.append("deleteRule", NSDeleteRule.nullifyDeleteRule.rawValue)
            text.append("ordered", relationship.isOrdered)
        case .fetched: return
        }
        text.append("optional", property.isOptional)
        text.append("transient", property.isTransient)
        text.append("modifier", property.versionHashModifier)
    }
}

/// Facts as text, written so that no two lists of facts give the same text: every value is preceded by its length.
private struct CanonicalText {
    private(set) var bytes: [UInt8] = Array("Pippin version hash 1\n".utf8)

    mutating func append(_ key: String, _ value: String?) {
        bytes += "\(key.utf8.count):\(key)=".utf8
        // A missing value and the empty string differ.
        if let value { bytes += "\(value.utf8.count):\(value)".utf8 }
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func append(_ key: String, _ value: Bool) { append(key, value ? "YES" : "NO") }

    mutating func append(_ key: String, _ value: some BinaryInteger) { append(key, "\(value)") }
}

/// The hash function SHA-512 (FIPS 180-4), for the digest of a store's version hashes. Foundation has none on Linux.
package enum SHA512 {
    /// The hash of some bytes, 64 bytes long.
    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        var state: [UInt64] = [
            0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
        ]
        var bytes = Array(message)
        let bitCount = UInt64(bytes.count) * 8
        bytes.append(0x80)
        // The length has 16 bytes, of which the upper 8 are zero.
        bytes.append(contentsOf: repeatElement(0, count: (240 - bytes.count % 128) % 128 + 8))
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bitCount >> shift)) }
        for block in stride(from: 0, to: bytes.count, by: 128) { compress(bytes[block..<(block + 128)], into: &state) }
        return state.flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt64]) {
        var words: [UInt64] = []
        words.reserveCapacity(80)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 8) {
            words.append(block[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) })
        }
        for index in 16..<80 {
            let early = words[index - 15]
            let late = words[index - 2]
            let first = rotate(early, 1) ^ rotate(early, 8) ^ (early >> 7)
            let second = rotate(late, 19) ^ rotate(late, 61) ^ (late >> 6)
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<80 {
            let choice = (e & f) ^ (~e & g)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let upper = rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41)
            let lower = rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39)
            let first = h &+ upper &+ choice &+ constants[index] &+ words[index]
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ lower &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word >> count | word << (64 - count) }

    /// The fractional parts of the cube roots of the first 80 primes.
    private static let constants: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}
