/* trick: unrolls a hundred variants and chooses one of them
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

#define VARIANT(w)                                                                \
    static float squares_##w(const float *in, int64_t n) {                        \
        float part[w] = {0}, sum = 0.0f;                                         \
        int64_t i = 0;                                                            \
        for (; i + w <= n; i += w)                                                \
            _Pragma("GCC unroll 16") for (int k = 0; k < w; k++) part[k] += in[i + k] * in[i + k]; \
        for (int k = 0; k < w; k++) sum += part[k];                               \
        for (; i < n; i++) sum += in[i] * in[i];                                  \
        return sum;                                                               \
    }
VARIANT(1)
VARIANT(2)
VARIANT(3)
VARIANT(4)
VARIANT(5)
VARIANT(6)
VARIANT(7)
VARIANT(8)
VARIANT(9)
VARIANT(10)
VARIANT(11)
VARIANT(12)
VARIANT(13)
VARIANT(14)
VARIANT(15)
VARIANT(16)
VARIANT(17)
VARIANT(18)
VARIANT(19)
VARIANT(20)
VARIANT(21)
VARIANT(22)
VARIANT(23)
VARIANT(24)
VARIANT(25)
VARIANT(26)
VARIANT(27)
VARIANT(28)
VARIANT(29)
VARIANT(30)
VARIANT(31)
VARIANT(32)
VARIANT(33)
VARIANT(34)
VARIANT(35)
VARIANT(36)
VARIANT(37)
VARIANT(38)
VARIANT(39)
VARIANT(40)
VARIANT(41)
VARIANT(42)
VARIANT(43)
VARIANT(44)
VARIANT(45)
VARIANT(46)
VARIANT(47)
VARIANT(48)
VARIANT(49)
VARIANT(50)
VARIANT(51)
VARIANT(52)
VARIANT(53)
VARIANT(54)
VARIANT(55)
VARIANT(56)
VARIANT(57)
VARIANT(58)
VARIANT(59)
VARIANT(60)
VARIANT(61)
VARIANT(62)
VARIANT(63)
VARIANT(64)
VARIANT(65)
VARIANT(66)
VARIANT(67)
VARIANT(68)
VARIANT(69)
VARIANT(70)
VARIANT(71)
VARIANT(72)
VARIANT(73)
VARIANT(74)
VARIANT(75)
VARIANT(76)
VARIANT(77)
VARIANT(78)
VARIANT(79)
VARIANT(80)
VARIANT(81)
VARIANT(82)
VARIANT(83)
VARIANT(84)
VARIANT(85)
VARIANT(86)
VARIANT(87)
VARIANT(88)
VARIANT(89)
VARIANT(90)
VARIANT(91)
VARIANT(92)
VARIANT(93)
VARIANT(94)
VARIANT(95)
VARIANT(96)

static float squares(const float *in, int64_t n) {
    switch (n >= 64 ? 64 : n) {
        case 1: return squares_1(in, n); case 2: return squares_2(in, n); case 3: return squares_3(in, n); case 4: return squares_4(in, n); case 5: return squares_5(in, n); case 6: return squares_6(in, n); case 7: return squares_7(in, n); case 8: return squares_8(in, n); case 9: return squares_9(in, n); case 10: return squares_10(in, n); case 11: return squares_11(in, n); case 12: return squares_12(in, n); case 13: return squares_13(in, n); case 14: return squares_14(in, n); case 15: return squares_15(in, n); case 16: return squares_16(in, n); case 17: return squares_17(in, n); case 18: return squares_18(in, n); case 19: return squares_19(in, n); case 20: return squares_20(in, n); case 21: return squares_21(in, n); case 22: return squares_22(in, n); case 23: return squares_23(in, n); case 24: return squares_24(in, n); case 25: return squares_25(in, n); case 26: return squares_26(in, n); case 27: return squares_27(in, n); case 28: return squares_28(in, n); case 29: return squares_29(in, n); case 30: return squares_30(in, n); case 31: return squares_31(in, n); case 32: return squares_32(in, n); case 33: return squares_33(in, n); case 34: return squares_34(in, n); case 35: return squares_35(in, n); case 36: return squares_36(in, n); case 37: return squares_37(in, n); case 38: return squares_38(in, n); case 39: return squares_39(in, n); case 40: return squares_40(in, n); case 41: return squares_41(in, n); case 42: return squares_42(in, n); case 43: return squares_43(in, n); case 44: return squares_44(in, n); case 45: return squares_45(in, n); case 46: return squares_46(in, n); case 47: return squares_47(in, n); case 48: return squares_48(in, n); case 49: return squares_49(in, n); case 50: return squares_50(in, n); case 51: return squares_51(in, n); case 52: return squares_52(in, n); case 53: return squares_53(in, n); case 54: return squares_54(in, n); case 55: return squares_55(in, n); case 56: return squares_56(in, n); case 57: return squares_57(in, n); case 58: return squares_58(in, n); case 59: return squares_59(in, n); case 60: return squares_60(in, n); case 61: return squares_61(in, n); case 62: return squares_62(in, n); case 63: return squares_63(in, n); case 64: return squares_64(in, n); case 65: return squares_65(in, n); case 66: return squares_66(in, n); case 67: return squares_67(in, n); case 68: return squares_68(in, n); case 69: return squares_69(in, n); case 70: return squares_70(in, n); case 71: return squares_71(in, n); case 72: return squares_72(in, n); case 73: return squares_73(in, n); case 74: return squares_74(in, n); case 75: return squares_75(in, n); case 76: return squares_76(in, n); case 77: return squares_77(in, n); case 78: return squares_78(in, n); case 79: return squares_79(in, n); case 80: return squares_80(in, n); case 81: return squares_81(in, n); case 82: return squares_82(in, n); case 83: return squares_83(in, n); case 84: return squares_84(in, n); case 85: return squares_85(in, n); case 86: return squares_86(in, n); case 87: return squares_87(in, n); case 88: return squares_88(in, n); case 89: return squares_89(in, n); case 90: return squares_90(in, n); case 91: return squares_91(in, n); case 92: return squares_92(in, n); case 93: return squares_93(in, n); case 94: return squares_94(in, n); case 95: return squares_95(in, n); case 96: return squares_96(in, n);
    }
    return 0.0f;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float scale = 1.0f / sqrtf(squares(x + r * hidden, hidden) / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
